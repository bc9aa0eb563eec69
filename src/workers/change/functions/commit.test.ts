/** change::commit: all of a change or nothing, merged with the edits of others, and undoable. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { changeCell, modesAndContents as treeOf, rounds, type ChangeCell } from '#testing';

interface Commit {
  committed: string;
  seq?: number;
  files: { path: string; kind: string; from?: string; merged?: boolean }[];
  merged: number;
  left_out: { path: string; why: string }[];
  closed: boolean;
}

const commit = (cell: ChangeCell, change: string, more: object = {}) =>
  cell.call<Commit>('change::commit', { change, ...more });

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('');

test('change.A4 two changes edit different lines of one file, and both edits are there', async () => {
  await using cell = await changeCell({ 'a.txt': LINES });
  const [one, two] = [await cell.begin('one'), await cell.begin('two')];
  await cell.sh(one, "sed -i 's/line 3$/line 3 of one/' a.txt");
  await cell.sh(two, "sed -i 's/line 15$/line 15 of two/' a.txt");
  expect(await commit(cell, one)).toMatchObject({ merged: 0, closed: true });
  const failure = await cell.failure('change::commit', { change: two });
  expect(failure).toMatchObject({ code: 'W213', fix: { change: two, on_conflict: 'merge' } });
  expect(await commit(cell, two, { on_conflict: 'merge' })).toMatchObject({
    files: [{ path: 'a.txt', kind: 'modified', merged: true }],
    merged: 1,
  });
  const text = readFileSync(cell.at('a.txt'), 'utf8');
  expect(text).toBe(LINES.replace('line 3\n', 'line 3 of one\n').replace('line 15\n', 'line 15 of two\n'));
  expect((await cell.call<{ changes: unknown[] }>('change::list')).changes).toEqual([]);
});

test('change.A5 the same line is a conflict with both versions and the base', async () => {
  await using cell = await changeCell({ 'a.txt': LINES });
  const [one, two] = [await cell.begin('one'), await cell.begin('two')];
  await cell.sh(one, "sed -i 's/line 3$/from one/' a.txt");
  await cell.sh(two, "sed -i 's/line 3$/from two/' a.txt");
  await commit(cell, one);
  const before = treeOf(cell.workspace);
  const failure = await cell.failure('change::commit', { change: two, on_conflict: 'merge' });
  const version = expect.stringMatching(/^sha256:/);
  expect(failure.conflicts).toEqual([
    {
      ...{ path: 'a.txt', kind: 'both-changed', mergeable: false },
      ...{ base_version: version, mine_version: version, theirs_version: version },
      hunk: '<<<<<<< mine\nfrom two\n||||||| base\nline 3\n=======\nfrom one\n>>>>>>> theirs\n',
    },
  ]);
  expect(treeOf(cell.workspace)).toEqual(before);
  expect(await commit(cell, two, { on_conflict: 'mine' })).toMatchObject({ closed: true });
  expect(readFileSync(cell.at('a.txt'), 'utf8')).toContain('from two');
});

test('change.A6 eight changes at once lose nothing, and no view moves', { timeout: 120_000 }, async () => {
  const [files, lines, agents, edits] = [rounds(8, 120, 120), 60, 8, rounds(6, 60, 60)];
  const text = (file: number) => Array.from({ length: lines }, (_, at) => `file ${file} line ${at}\n`).join('');
  const entries = Object.fromEntries(Array.from({ length: files }, (_, file) => [`f${file}`, text(file)]));
  await using cell = await changeCell(entries);
  let seed = 5;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const changes = await Promise.all(
    Array.from({ length: agents }, async (_, at) => ({
      name: await cell.begin(`a-${at}`),
      mine: [] as [string, string][],
    })),
  );
  const edit = async ({ name, mine }: (typeof changes)[number]) => {
    const path = `f${random(files)}`;
    const tag = `<${name} edit ${mine.length}>`;
    const at_line = 1 + random(lines - 2);
    await cell.call('coder::update-file', {
      change: name,
      files: [{ path, ops: [{ op: 'insert', at_line, content: `${tag}` }] }],
    });
    mine.push([path, tag]);
  };
  const seenBy = async (name: string) =>
    Promise.all(
      Object.keys(entries).map(
        async (path) => (await cell.call<{ content: string }>('coder::read-file', { change: name, path })).content,
      ),
    );
  for (let round = 0; round < edits / 2; round++) for (const one of changes) await edit(one);
  const left = new Set(changes);
  const conflicts = new Set<string>();
  let moved = 0;
  for (const one of changes) {
    left.delete(one);
    for (const other of left) for (let at = 0; at < edits / 2 / agents; at++) await edit(other);
    const before = new Map(await Promise.all([...left].map(async ({ name }) => [name, await seenBy(name)] as const)));
    const plan = await cell.call<{ conflicts: { path: string; mergeable: boolean }[] }>('change::diff', {
      change: one.name,
    });
    const refused = plan.conflicts.filter(({ mergeable }) => !mergeable).map(({ path }) => path);
    for (const path of refused) conflicts.add(`${one.name} ${path}`);
    const paths = [...new Set(one.mine.map(([path]) => path))].filter((path) => !refused.includes(path));
    if (paths.length > 0) await commit(cell, one.name, { on_conflict: 'merge', paths });
    for (const { name } of left) if (JSON.stringify(before.get(name)) !== JSON.stringify(await seenBy(name))) moved++;
  }
  const lost = changes.flatMap(({ name, mine }) =>
    mine.filter(
      ([path, tag]) => !conflicts.has(`${name} ${path}`) && !readFileSync(cell.at(path), 'utf8').includes(tag),
    ),
  );
  expect(lost).toEqual([]);
  expect(moved).toBe(0);
});

test('change.A11 undo of a commit restores every byte and mode', async () => {
  await using cell = await changeCell({
    'gone.txt': 'gone\n',
    'old.txt': LINES,
    'run.sh': { content: '#!/bin/sh\n', mode: 0o644 },
    'text.txt': 'one\n',
    'again/left.txt': 'left\n',
    'again/kept.txt': 'kept\n',
    'folder/a': 'a\n',
    'folder/sub/b': 'b\n',
    'becomes-folder': 'file\n',
    'becomes-file/x': 'x\n',
    link: { symlink: 'text.txt' },
  });
  chmodSync(cell.at('again'), 0o750);
  const before = treeOf(cell.workspace);
  const change = await cell.begin();
  await cell.sh(
    change,
    `rm gone.txt; mv old.txt new.txt; chmod 755 run.sh; echo two >> text.txt
     rm -r again; mkdir -m 700 again; echo kept > again/kept.txt; echo new > again/new.txt
     rm -r folder; mkdir -p -m 755 deep/er; chmod 711 deep; echo x > deep/er/x; mkdir empty
     rm becomes-folder; mkdir becomes-folder; echo y > becomes-folder/y
     rm -r becomes-file; echo now > becomes-file
     rm link; ln -s new.txt link; ln -s nowhere dangling
     mkdir node_modules; for i in $(seq 220); do echo $i > node_modules/$i; done`,
  );
  const view = JSON.parse(
    await cell.sh(
      change,
      `${process.execPath} -e '
      const fs = require("node:fs"), path = require("node:path"); const tree = {};
      const walk = (p) => { for (const n of fs.readdirSync(path.join(".", p)).sort()) { const i = path.join(p, n); const s = fs.lstatSync(i); const m = (s.mode & 0o7777).toString(8);
        tree[i] = s.isDirectory() ? "directory " + m : s.isSymbolicLink() ? "link " + fs.readlinkSync(i) : m + " " + fs.readFileSync(i, "base64"); if (s.isDirectory()) walk(i); } };
      walk(""); console.log(JSON.stringify(tree))'`,
    ),
  ) as Record<string, string>;
  const { seq, closed } = await commit(cell, change, { message: 'all kinds' });
  expect(closed).toBe(true);
  expect(treeOf(cell.workspace)).toEqual(view);
  const { redo_seq } = await cell.call<{ redo_seq: number }>('coder::undo', { seq });
  expect(treeOf(cell.workspace)).toEqual(before);
  await cell.call('coder::undo', { seq: redo_seq });
  expect(treeOf(cell.workspace)).toEqual(view);
});

test('a part is committed, the rest stays, and later edits do not conflict with it', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'd/x': 'x\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo 2 >> a.txt; echo 2 >> b.txt; rm -r d; mkdir d; echo y > d/y');
  expect(await commit(cell, change, { paths: ['a.txt', 'd'] })).toMatchObject({ closed: false });
  expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('a\n2\n');
  expect(readFileSync(cell.at('b.txt'), 'utf8')).toBe('b\n');
  expect(readdirSync(cell.at('d'))).toEqual(['y']);
  const rows = async () =>
    (await cell.call<{ files: { path: string; kind: string }[] }>('change::diff', { change })).files.map(
      ({ path }) => path,
    );
  expect(await rows()).toEqual(['b.txt']);
  await cell.sh(change, 'echo 3 >> a.txt; test -e d/y; test ! -e d/x');
  expect(await rows()).toEqual(['a.txt', 'b.txt']);
  expect(await commit(cell, change)).toMatchObject({ closed: true });
  expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('a\n2\n3\n');
});

test.skipIf(process.geteuid?.() !== 0)(
  'a dry run changes nothing, and a commit that fails midway is rolled back (chattr needs root)',
  async () => {
    await using cell = await changeCell({ 'a.txt': 'a\n', 'z.txt': 'z\n' });
    const change = await cell.begin();
    await cell.sh(
      change,
      'echo mine > a.txt; echo mine > z.txt; echo new > new.txt; mkdir t; for i in $(seq 210); do echo $i > t/$i; done',
    );
    const before = treeOf(cell.workspace);
    expect(await commit(cell, change, { dry_run: true })).toMatchObject({ closed: false, files: { length: 4 } });
    expect(treeOf(cell.workspace)).toEqual(before);

    // Only this stops root from replacing a file.
    execFileSync('chattr', ['+i', cell.at('z.txt')]);
    try {
      const failure = await cell.failure('change::commit', { change, on_conflict: 'mine' });
      expect(failure.code).toBe('W216');
      expect(failure.message).toContain('z.txt');
      expect(treeOf(cell.workspace)).toEqual(before);
    } finally {
      execFileSync('chattr', ['-i', cell.at('z.txt')]);
    }
    expect(await commit(cell, change, { on_conflict: 'mine' })).toMatchObject({ closed: true });
    expect(readFileSync(cell.at('new.txt'), 'utf8')).toBe('new\n');
    expect(readdirSync(cell.at('t')).length).toBe(210);
  },
);

test('change.A12 a tree is committed by a rename, but for its protected files', async () => {
  await using cell = await changeCell({});
  const one = await cell.begin();
  await cell.sh(one, 'mkdir -p m/x; for i in $(seq 220); do echo $i > m/x/$i; done');
  const store = join(
    cell.dir.path('state/changes'),
    readdirSync(cell.dir.path('state/changes'))[0]!,
    one,
    'upper/m/x/7',
  );
  const { ino } = lstatSync(store);
  expect((await commit(cell, one)).files).toEqual([{ path: 'm', kind: 'tree' }]);
  expect(lstatSync(cell.at('m/x/7')).ino).toBe(ino);

  const two = await cell.begin();
  await cell.sh(
    two,
    'mkdir -p n/x; for i in $(seq 220); do echo $i > n/x/$i; done; echo k > n/x/server.key; chmod 4755 n/x/9',
  );
  expect((await commit(cell, two)).left_out).toEqual([{ path: 'n/x/server.key', why: 'protected' }]);
  expect(readdirSync(cell.at('n/x')).length).toBe(220);
  expect(lstatSync(cell.at('n/x/9')).mode & 0o7777).toBe(0o755);
});

test('change.A15 a protected file stays as it was', async () => {
  await using cell = await changeCell({ '.env': 'SECRET=1\n', 'a.txt': 'a\n', 'd/.env': 'SECRET=1\n', 'd/x': 'x\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo SECRET=2 > .env; echo b > a.txt; rm -r d');
  expect((await commit(cell, change)).left_out).toEqual([
    { path: '.env', why: 'protected' },
    { path: 'd/.env', why: 'protected' },
  ]);
  expect(treeOf(cell.workspace)).toMatchObject({
    '.env': expect.stringContaining('U0VDUkVUPTEK'),
    'd/.env': expect.anything(),
  });
  expect(existsSync(cell.at('d/x'))).toBe(false);
});

test('a file that another program deleted is not brought back silently', async () => {
  await using cell = await changeCell({ 'd/a.txt': LINES, 'd/b.txt': LINES });
  const change = await cell.begin();
  await cell.sh(change, 'echo more >> d/a.txt; mv d/b.txt d/c.txt');
  execFileSync('rm', [cell.at('d/a.txt')]);
  const failure = await cell.failure('change::commit', { change });
  expect(failure.conflicts).toMatchObject([{ path: 'd/a.txt', kind: 'deleted-underneath', theirs_version: null }]);
  mkdirSync(cell.at('other'));
  writeFileSync(cell.at('other/new'), '');
  expect(await commit(cell, change, { on_conflict: 'theirs' })).toMatchObject({
    files: [{ path: 'd/c.txt', kind: 'renamed', from: 'd/b.txt' }],
  });
  expect(readdirSync(cell.at('d'))).toEqual(['c.txt']);
});

const versionOf = async (cell: ChangeCell, change: string, more: object = {}) =>
  (await cell.call<{ version: string }>('change::diff', { change, ...more })).version;

test.each([
  ['another content of the same length', 'printf new2 > b.txt'],
  ['a write in place', 'printf X | dd of=b.txt bs=1 conv=notrunc; touch -d "2020-01-01" b.txt'],
  ['another file', 'echo x > c.txt'],
  ['a deletion', 'rm a.txt'],
  ['a mode', 'chmod 755 b.txt'],
  ['a link', 'ln -sf /etc/passwd l'],
  ['a file in a new tree', 'echo evil > t/7'],
])('a commit of what was shown is refused after %s', async (_, script) => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const change = await cell.begin();
  const many = 'mkdir t; for i in $(seq 210); do echo $i > t/$i; done';
  await cell.sh(change, `printf new1 > b.txt; touch -d '2020-01-01' b.txt; ln -s a.txt l; ${many}`);
  const version = await versionOf(cell, change);
  expect(await versionOf(cell, change, { text: false, max_output_bytes: 1 })).toBe(version);
  await cell.sh(change, script);
  const before = treeOf(cell.workspace);
  const failure = await cell.failure('change::commit', { change, expected_version: version });
  expect(failure.code).toBe('W219');
  expect(treeOf(cell.workspace)).toEqual(before);
  const now = await versionOf(cell, change);
  expect(failure.message).toContain(now);
  expect(await commit(cell, change, { expected_version: now })).toMatchObject({ closed: true });
});

test('an edit in place is a conflict also after a call changed the mode of the file', async () => {
  await using cell = await changeCell({ 'a.txt': 'old\n', 'b.txt': 'old\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo mine > a.txt; echo mine > b.txt');
  for (const name of ['a.txt', 'b.txt']) await cell.call('shell::fs::chmod', { path: cell.at(name), mode: '0755' });
  expect(await cell.call('change::diff', { change })).toMatchObject({ conflicts: [] });
  writeFileSync(cell.at('a.txt'), 'theirs\n');
  const failure = await cell.failure('change::commit', { change });
  expect(failure).toMatchObject({ code: 'W213', conflicts: [{ path: 'a.txt', kind: 'both-changed' }] });
  expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('theirs\n');
});
