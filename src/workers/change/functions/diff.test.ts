/** change::diff: each kind of difference is one row, and nothing is hidden. */
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { changeCell, rounds, type ChangeCell } from '#testing';

interface Diff {
  summary: Record<string, number>;
  deleted: string[];
  files: { path: string; kind: string; from?: string; unified?: string; [field: string]: unknown }[];
  trees: { path: string; files: number; bytes: number }[];
  left_out: { path: string; why: string }[];
  git: { repo: string; objects: number; refs: object[]; config_changed: boolean; hooks_changed: boolean }[];
  conflicts: { path: string; kind: string }[];
  commands: { command: string }[];
  truncated: boolean;
  next_after?: string;
}

const diffOf = (cell: ChangeCell, change: string, more: object = {}) =>
  cell.call<Diff>('change::diff', { change, ...more });

const rowsOf = ({ files }: Diff) =>
  files.map(({ path, kind, from }) => `${kind} ${from === undefined ? '' : `${from} -> `}${path}`);

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('');

test('change.A7 each kind of difference is one row', async () => {
  await using cell = await changeCell({
    'gone.txt': 'gone\n',
    'old-name.txt': LINES,
    'edited-and-moved.txt': LINES.replaceAll('line', 'row'),
    'run.sh': '#!/bin/sh\n',
    'text.txt': 'one\ntwo\n',
    'touched.txt': 'same\n',
    'data.bin': Buffer.from([0, 1, 2]),
    'again/kept.txt': 'kept\n',
    'again/left.txt': 'left\n',
    'again/changed.txt': 'before\n',
    'folder/a': 'a\n',
    'folder/sub/b': 'b\n',
  });
  const change = await cell.begin();
  await cell.sh(
    change,
    `rm gone.txt
     mv old-name.txt new-name.txt
     mv edited-and-moved.txt moved.txt; echo more >> moved.txt
     chmod 755 run.sh
     echo three >> text.txt
     touch touched.txt
     printf '\\0\\1\\2\\3' > data.bin
     ln -s text.txt link
     : > empty.txt
     mkdir new-folder
     rm -r again; mkdir again; echo kept > again/kept.txt; echo after > again/changed.txt; echo new > again/new.txt
     rm -r folder`,
  );
  const diff = await diffOf(cell, change);
  expect(rowsOf(diff)).toEqual([
    'modified again/changed.txt',
    'deleted again/left.txt',
    'added again/new.txt',
    'modified data.bin',
    'added empty.txt',
    'deleted folder/a',
    'deleted folder/sub/b',
    'deleted gone.txt',
    'link link',
    'renamed edited-and-moved.txt -> moved.txt',
    'added new-folder',
    'renamed old-name.txt -> new-name.txt',
    'mode run.sh',
    'modified text.txt',
  ]);
  expect(diff.summary).toMatchObject({ added: 3, modified: 3, deleted: 4, renamed: 2, mode: 1, links: 1, binary: 1 });
  const row = (path: string) => diff.files.find((file) => file.path === path);
  expect(row('text.txt')?.unified).toBe('--- a/text.txt\n+++ b/text.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n');
  expect(row('run.sh')).toMatchObject({ old_mode: '0644', new_mode: '0755' });
  expect(row('data.bin')).toMatchObject({ binary: true, size: 4 });
  expect(row('link')).toMatchObject({ new_target: 'text.txt' });
  expect(row('new-folder')).toMatchObject({ is_directory: true });
  expect(row('new-name.txt')?.unified).toBeUndefined();
  expect(diff.conflicts).toEqual([]);
});

test('change.A8 every deletion is listed, whatever the cap', async () => {
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`old-${at}`, `${at}\n`]));
  await using cell = await changeCell(files);
  const change = await cell.begin();
  await cell.sh(change, 'for i in $(seq 200); do echo added $i > new-$i; done; rm old-*');
  const deleted = Object.keys(files);
  const seen: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await diffOf(cell, change, { max_output_bytes: 2000, ...(after !== undefined && { after }) });
    expect(page.deleted).toEqual(deleted);
    expect(page.summary).toMatchObject({ added: 200, deleted: 5 });
    seen.push(...page.files.map(({ path }) => path));
    after = page.next_after;
    if (!page.truncated) break;
  }
  expect(seen.length).toBe(205);
  expect(new Set(seen).size).toBe(205);
  expect((await diffOf(cell, change, { max_output_bytes: 1 })).deleted).toEqual(deleted);
});

test('change.A9 what another program changes shows as a conflict only where the change touched it', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo mine > a.txt; rm b.txt; echo mine > d.txt');
  writeFileSync(cell.at('a.txt'), 'theirs\n');
  writeFileSync(cell.at('b.txt'), 'theirs\n');
  writeFileSync(cell.at('c.txt'), 'theirs\n');
  writeFileSync(cell.at('d.txt'), 'mine\n');
  const { conflicts } = await diffOf(cell, change);
  expect(conflicts.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'both-changed a.txt',
    'changed-underneath-deleted-here b.txt',
  ]);
  const { changes } = await cell.call<{ changes: { moved_underneath: number }[] }>('change::list');
  expect(changes[0]?.moved_underneath).toBe(4);
  const failure = await cell.failure('change::commit', { change });
  expect(failure.code).toBe('W213');
  expect(failure.conflicts).toMatchObject([
    { base_version: null, mergeable: null },
    { theirs_version: expect.any(String) },
  ]);
});

/** Files of one line in node_modules/x/y. */
const MADE = (count: number) =>
  `${process.execPath} -e 'for (let i = 1; i <= ${count}; i++) fs.writeFileSync("node_modules/x/y/" + i, i + "\\n")'`;

test('change.A12 a new folder of many files is one row, and discard leaves nothing of it', async () => {
  const count = rounds(250, 30_000, 30_000);
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const change = await cell.begin();
  await cell.sh(change, `mkdir -p node_modules/x/y; ln -s x node_modules/link; ${MADE(count)}`);
  const diff = await diffOf(cell, change);
  expect(rowsOf(diff)).toEqual(['tree node_modules']);
  expect(diff.trees).toEqual([{ path: 'node_modules', files: count + 1, bytes: expect.any(Number) }]);
  expect(diff.summary.added).toBe(count + 1);
  await cell.call('change::discard', { change });
  expect(readdirSync(cell.workspace)).toEqual(['a.txt']);
  const store = readdirSync(cell.dir.path('state/changes')).map((name) => cell.dir.path(`state/changes/${name}`));
  await expect.poll(() => readdirSync(store[0]!)).toEqual(['.workspace']);

  const again = await cell.begin();
  await cell.sh(again, `mkdir -p node_modules/x/y; ${MADE(count)}`);
  const { ino } = statSync(`${store[0]}/${again}/upper/node_modules/x/y/7`);
  await cell.call('change::commit', { change: again });
  expect(readdirSync(cell.at('node_modules/x/y'))).toHaveLength(count);
  expect(statSync(cell.at('node_modules/x/y/7')).ino).toBe(ino);
});

test('change.A15 a protected file is left out, and so are FIFOs, sockets and devices', async () => {
  await using cell = await changeCell({ '.env': 'SECRET=1\n', 'a.txt': 'a\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo SECRET=2 > .env; mkfifo pipe; mkdir secrets; echo x > secrets/y; echo b > a.txt');
  const listens = 'IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die';
  await cell.sh(change, `perl -MIO::Socket::UNIX -e '${listens}'`);
  const isRoot = process.geteuid?.() === 0;
  // Not the numbers of a whiteout: 0 and 0.
  if (isRoot) await cell.sh(change, 'mknod device c 1 3; mknod disk b 7 0');
  const diff = await diffOf(cell, change);
  expect(rowsOf(diff)).toEqual(['modified a.txt', 'added secrets']);
  expect(diff.left_out).toEqual([
    { path: '.env', why: 'protected' },
    ...(isRoot ? ['device', 'disk'] : []).map((path) => ({ path, why: 'special' })),
    { path: 'pipe', why: 'special' },
    { path: 'secrets/y', why: 'protected' },
    { path: 'socket', why: 'special' },
  ]);
  // The words of the command are shown as they are.
  expect(JSON.stringify({ ...diff, commands: [] })).not.toContain('SECRET');
  expect(await cell.call('change::commit', { change })).toMatchObject({ left_out: diff.left_out });
  expect(readdirSync(cell.workspace).sort()).toEqual(['.env', 'a.txt', 'secrets']);
});

test('only the asked paths are compared, and one that was not touched is refused', async () => {
  await using cell = await changeCell({ 'a/x': '1\n', 'a/y': '1\n', b: '1\n' });
  const change = await cell.begin();
  await cell.sh(change, 'echo 2 > a/x; echo 2 > b');
  expect(rowsOf(await diffOf(cell, change, { paths: ['a/'] }))).toEqual(['modified a/x']);
  const failure = await cell.failure('change::diff', { change, paths: ['a/y'] });
  expect(failure).toMatchObject({ code: 'W210', message: 'the change did not touch a/y' });
});

test('a renamed folder is a list of renames, and modes of folders are rows', async () => {
  await using cell = await changeCell({
    'some-folder/a': LINES,
    'some-folder/sub/b': 'b\n',
    'other/c': 'c\n',
    'empty/': '',
  });
  chmodSync(cell.at('other'), 0o755);
  const change = await cell.begin();
  await cell.sh(change, 'mv some-folder renamed; chmod 700 other; rmdir empty');
  expect(rowsOf(await diffOf(cell, change))).toEqual([
    'deleted empty',
    'mode other',
    'renamed some-folder/a -> renamed/a',
    'renamed some-folder/sub/b -> renamed/sub/b',
  ]);
});
