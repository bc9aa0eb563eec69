/** coder::undo over every file function: cases of undo in docs/cases.md. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import { shippedCell } from '#contract';
import { versionOf } from '#host';
import type { TempEntries } from '#testing';
import { shareJournal } from '../../src/host/journal/shared-journal.ts';
import { UndoCase } from './undo-support.ts';

const sum = (text: string) => versionOf(Buffer.from(text));

const many = (count: number, name: (at: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), `old ${at}\n`]));

const FILES: TempEntries = {
  'a.txt': { content: 'one\ntwo\nthree\n', mode: 0o640 },
  run: { content: '#!/bin/sh\n', mode: 0o755 },
  'd/x': 'x\n',
  'd/sub/y': { content: 'y\n', mode: 0o600 },
  'd/sub/link': { symlink: '../x' },
  'd/empty/': '',
  link: { symlink: 'a.txt' },
  'other/x': 'other\n',
};

/** Changes, adds, moves and deletes a file. */
const PATCH = `*** Begin Patch
*** Update File: a.txt
@@
-two
+2
*** Add File: new/deep/f
+new
*** Update File: run
*** Move to: d/run
@@
-#!/bin/sh
+#!/bin/bash
*** Delete File: other/x
*** End Patch
`;

const ACTIONS: [string, string, Record<string, unknown>][] = [
  ['update', 'coder::update-file', { files: [{ path: 'a.txt', ops: [{ op: 'remove', from_line: 2, to_line: 2 }] }] }],
  [
    'update of two files',
    'coder::update-file',
    { files: ['a.txt', 'run'].map((path) => ({ path, ops: [{ op: 'insert', at_line: 1, content: 'n' }] })) },
  ],
  ['create with parent directories', 'coder::create-file', { files: [{ path: 'new/deep/f', content: 'new' }] }],
  ['replace', 'coder::create-file', { files: [{ path: 'a.txt', content: 'new', overwrite: true, mode: '0600' }] }],
  ['delete', 'coder::delete-file', { paths: ['a.txt', 'link'] }],
  ['delete of a directory', 'coder::delete-file', { paths: ['d'], recursive: true }],
  ['delete of an empty directory', 'coder::delete-file', { paths: ['d/empty'] }],
  ['patch', 'coder::apply-patch', { patch: PATCH }],
  ['write through shell', 'shell::fs::write', { path: 'run', content: 'new' }],
  ['mkdir -p', 'shell::fs::mkdir', { path: 'p/q/r', parents: true }],
  ['rm -r', 'shell::fs::rm', { path: 'd', recursive: true }],
  ['chmod', 'shell::fs::chmod', { path: 'run', mode: '0600' }],
  ['chmod -R', 'shell::fs::chmod', { path: 'd', mode: '0700', recursive: true }],
  ['mv over a file', 'shell::fs::mv', { src: 'run', dst: 'a.txt', overwrite: true }],
  ['mv of a directory', 'shell::fs::mv', { src: 'd', dst: 'other/d' }],
  ['sed', 'shell::fs::sed', { path: '.', pattern: 'o', replacement: '0', recursive: true }],
  ['edit', 'filesystem::edit', { path: 'a.txt', old_string: 'two', new_string: '2' }],
  ['insert', 'filesystem::insert', { path: 'a.txt', line: 1, content: 'zero' }],
  ['write', 'filesystem::write', { path: 'fresh/f', content: 'x', create_dirs: true }],
  ['cp', 'filesystem::cp', { source: 'run', destination: 'a.txt', overwrite: true }],
  ['cp -r', 'filesystem::cp', { source: 'd', destination: 'copy' }],
  ['cp -r over a directory', 'filesystem::cp', { source: 'd', destination: 'other', overwrite: true }],
  ['mv', 'filesystem::mv', { source: 'a.txt', destination: 'other/a.txt' }],
  ['rm', 'filesystem::rm', { path: 'd', recursive: true }],
];

describe.each([
  ['with hard links', {}],
  ['undo.B10 with a store on another device, so with copies', { device: true }],
])('%s', (_, { device }: { device?: boolean }) => {
  const away = device ? otherDevice() : undefined;

  test.skipIf(device && !away).each(ACTIONS)(
    'undo.B1 undo.B2 coder.P20 %s is undone, redone and undone again',
    async (__, id, payload) => {
      await using given = await UndoCase.of(FILES);
      // Node sets the times of a copy in fractions of a second.
      if (away) given.precisionNs = 1_000_000n;
      if (away)
        given.cell = { state_dir: `${away}/workcell-undo-${process.pid}-${Math.random().toString(36).slice(2)}` };
      const before = given.tree();
      await given.call(id, payload);
      const after = given.tree();
      expect(after).not.toEqual(before);

      const { redo_seq } = await given.undo();
      expect(given.tree()).toEqual(before);
      const redone = await given.undo({ seq: redo_seq });
      expect(given.tree()).toEqual(after);
      await given.undo({ seq: redone.redo_seq });
      expect(given.tree()).toEqual(before);
      if (away) rmSync(given.cell.state_dir!, { recursive: true });
    },
  );
});

test('undo.B1 coder.P20 a directory comes back with the times of all in it, and an edited file with its own', async () => {
  await using given = await UndoCase.of(FILES);
  const old = new Date('2001-02-03T04:05:06.789Z');
  for (const path of Object.keys(given.tree()).toReversed()) lutimesSync(given.path(path), old, old);
  const before = given.times();
  const below = (times: Record<string, bigint>) =>
    Object.fromEntries(Object.entries(times).filter(([path]) => path.startsWith('d')));
  for (const [id, payload] of [
    ['coder::delete-file', { paths: ['d'], recursive: true }],
    ['shell::fs::mv', { src: 'd', dst: 'other/d' }],
  ] as const) {
    const { redo_seq } = await (await given.call(id, payload), given.undo());
    expect(below(given.times())).toEqual(below(before));
    await given.undo({ seq: redo_seq });
    await given.undo();
    expect(below(given.times())).toEqual(below(before));
  }
  await given.edit('d/x', 'x', 'y');
  await given.undo();
  const { 'd/x': edited, d: above } = given.times();
  expect(edited).toBe(before['d/x']);
  // Whatever comes into a directory changes its time.
  expect(above).not.toBe(before.d);
});

test('an item that fails leaves the changes of the others, which are one record', async () => {
  await using given = await UndoCase.of({ a: 'a', b: 'b' });
  const before = given.tree();
  const files = ['a', 'missing/../../out', 'b'].map((path) => ({ path, content: 'new', overwrite: true }));
  await expect(given.call('coder::create-file', { files })).rejects.toThrow('C215');
  expect(readFileSync(given.path('b'), 'utf8')).toBe('new');
  expect(await given.records()).toMatchObject([{ files: ['a', 'b'] }]);
  await given.undo();
  expect(given.tree()).toEqual(before);
});

/** Before-images are hard links, so a write in place would change them. */
test.each(ACTIONS)('no function writes in place: %s', async (_, id, payload) => {
  await using given = await UndoCase.of(FILES);
  const files = readdirSync(given.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  mkdirSync(given.dir.path('kept'));
  const kept = files.map((entry, at) => {
    const path = `${entry.parentPath}/${entry.name}`;
    linkSync(path, given.dir.path(`kept/${at}`));
    return { at, content: readFileSync(path, 'utf8') };
  });
  await given.call(id, payload);
  await given.undo();
  for (const { at, content } of kept) expect(readFileSync(given.dir.path(`kept/${at}`), 'utf8')).toBe(content);
});

/** undo.B10: a directory on another device than the tests, where hard links fail. */
function otherDevice(): string | undefined {
  const place = '/dev/shm';
  if (!existsSync(place)) return undefined;
  const deviceOf = (path: string) => execFileSync('stat', ['-c', '%d', path]).toString();
  return deviceOf(place) === deviceOf('/tmp') ? undefined : place;
}

test('undo.B1 sed over 500 files and the delete of 10,000 files are one record each', async () => {
  await using given = await UndoCase.of({
    ...many(500, (at) => `s/f${at}`),
    ...many(10_000, (at) => `big/${at % 20}/f${at}`),
  });
  const before = given.tree();
  await given.call('shell::fs::sed', { path: 's', pattern: 'old', replacement: 'new', recursive: true });
  await given.call('coder::delete-file', { paths: ['big'], recursive: true });
  expect(readFileSync(given.path('s/f499'), 'utf8')).toBe('new 499\n');
  expect(existsSync(given.path('big'))).toBe(false);
  await given.undo({ steps: 2 });
  expect(given.tree()).toEqual(before);
}, 60_000);

test('undo.B3 undo.B4 coder.P21 a later edit by another program is a conflict, and a merge keeps it', async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
  await using given = await UndoCase.of({ f: lines.join(''), g: 'g\n' });
  await given.call('coder::update-file', {
    files: [
      { path: 'f', ops: [{ op: 'update_lines', from_line: 3, to_line: 3, content: 'agent' }] },
      { path: 'g', ops: [{ op: 'insert', at_line: 1, content: 'agent' }] },
    ],
  });
  const text = readFileSync(given.path('f'), 'utf8').replace('line 17', 'person');
  writeFileSync(given.path('f'), text);
  const tree = given.tree();
  const refused = given.undo();
  await expect(refused).rejects.toMatchObject({
    code: 'C223',
    extra: {
      conflicts: [{ path: 'f', mergeable: true, left_version: expect.stringMatching(/^sha256:/) }],
      fix: { on_conflict: 'merge' },
    },
  });
  expect(given.tree()).toEqual(tree);

  await given.undo({ on_conflict: 'merge' });
  expect(readFileSync(given.path('f'), 'utf8')).toBe(lines.join('').replace('line 17', 'person'));
  expect(readFileSync(given.path('g'), 'utf8')).toBe('g\n');
});

test('merge refuses a conflict in the same lines, and skip leaves the file unchanged', async () => {
  await using given = await UndoCase.of({ f: 'one\n', g: 'one\n' });
  await given.call('coder::update-file', {
    files: ['f', 'g'].map((path) => ({ path, ops: [{ op: 'replace', pattern: 'one', replacement: 'two' }] })),
  });
  writeFileSync(given.path('f'), 'three\n');
  await expect(given.undo({ on_conflict: 'merge' })).rejects.toMatchObject({ code: 'C223' });
  const conflicts = [{ path: 'f', left_version: sum('two\n'), found_version: sum('three\n'), mergeable: false }];
  expect(await given.undo({ on_conflict: 'skip', dry_run: true })).toMatchObject({ conflicts });
  const { undone, ...more } = await given.undo({ on_conflict: 'skip' });
  expect(undone).toMatchObject([{ restored: 1, skipped: 1 }]);
  expect(more).toMatchObject({ files: [{ path: 'g' }], conflicts });
  expect([readFileSync(given.path('f'), 'utf8'), readFileSync(given.path('g'), 'utf8')]).toEqual(['three\n', 'one\n']);
});

test('undo keeps a created file that another program changed, and a created directory that is not empty', async () => {
  await using given = await UndoCase.of({});
  await given.write('made/f', 'agent\n');
  writeFileSync(given.path('made/person'), 'mine');
  await given.undo();
  expect(Object.keys(given.tree())).toEqual(['made', 'made/person']);
  await given.write('made/g', 'agent\n');
  writeFileSync(given.path('made/g'), 'person');
  await expect(given.undo()).rejects.toMatchObject({ code: 'C223' });
});

test('a rename is undone only if the old path is free', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  await given.call('shell::fs::mv', { src: 'a', dst: 'b' });
  writeFileSync(given.path('a'), 'another');
  await expect(given.undo()).rejects.toMatchObject({ code: 'C223', extra: { conflicts: [{ path: 'a' }] } });
});

test('undo.B5 undo.B18 coder.P24 to_label undoes 55 mixed records at once, each written by a newly opened worker', async () => {
  await using given = await UndoCase.of({ ...FILES, ...many(10, (at) => `m/f${at}`) });
  await given.write('earlier', 'stays');
  const before = given.tree();
  await given.call('coder::checkpoint', { label: 'before' });
  for (let round = 0; round < 10; round++) {
    await given.write(`new${round % 3}/f${round}`, `${round}`);
    await given.edit(`m/f${round}`, 'old', 'edited');
    await given.write(`m/f${round}`, `again ${round}`);
    await given.call('shell::fs::mv', { src: `m/f${round}`, dst: `m/moved${round}` });
    if (round === 4) await given.call('filesystem::mv', { source: 'm', destination: 'm2' });
    if (round === 4) await given.call('filesystem::mv', { source: 'm2', destination: 'm' });
    if (round === 5) await given.call('coder::delete-file', { paths: ['d'], recursive: true });
    if (round === 6) await given.write('d/x', 'a new folder of that name');
    if (round === 7) await given.call('shell::fs::chmod', { path: 'run', mode: '0700' });
    await given.write(`m/moved${round}`, 'moved and written');
  }
  const { undone } = await given.undo({ to_label: 'before' });
  expect(undone.length).toBe(55);
  expect(given.tree()).toEqual(before);
}, 60_000);

test('undo.B6 undo.B7 coder.P21 undo does not touch ignored or untracked files and nested repositories', async () => {
  await using given = await UndoCase.of({
    f: 'f\n',
    '.gitignore': 'ignored/\n',
    'ignored/x': 'x',
    untracked: 'u',
    'inner/g': 'g',
  });
  for (const repository of ['.', 'inner']) execFileSync('git', ['init', '-q', given.path(repository)]);
  execFileSync('git', ['-C', given.root, 'add', 'f', '.gitignore']);
  const before = given.tree();
  await given.edit('f', 'f', 'g');
  await given.write('inner/new', 'n');
  await given.undo({ steps: 2 });
  expect(given.tree()).toEqual(before);
});

test('undo.B14 coder.P21 a caller undoes its own records, also by turn; anyone: true undoes those of others', async () => {
  await using given = await UndoCase.of({ a: 'a', b: 'b', c: 'c' });
  await given.write('a', 'by anna', { caller: 'anna', turn: 't1' });
  await given.write('b', 'by ben', { caller: 'ben', turn: 't1' });
  await given.write('c', 'by anna', { caller: 'anna', turn: 't1' });
  const texts = () => ['a', 'b', 'c'].map((name) => readFileSync(given.path(name), 'utf8'));
  await given.undo({ turn_id: 't1' }, { caller: 'anna' });
  expect(texts()).toEqual(['a', 'by ben', 'c']);
  await expect(given.undo({}, { caller: 'anna' })).rejects.toMatchObject({ code: 'C224' });
  await given.undo({ anyone: true }, { caller: 'anna' });
  expect(texts()).toEqual(['a', 'b', 'c']);
});

test('undo.B14 coder.P21 a record of another caller is undone by its number only with anyone: true, and its redo is theirs', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  const [anna, ben] = [{ caller: 'anna' }, { caller: 'ben' }];
  await given.write('a', 'by anna', anna);
  const foreign = {
    code: 'C224',
    message: expect.stringContaining('belongs to another caller; send anyone: true') as string,
    extra: { fix: { anyone: true } },
  };
  await expect(given.undo({ seq: 1 }, ben)).rejects.toMatchObject(foreign);
  await expect(given.undo({ seq: 1, dry_run: true })).rejects.toMatchObject(foreign);
  expect(readFileSync(given.path('a'), 'utf8')).toBe('by anna');

  const { redo_seq } = await given.undo({ seq: 1, anyone: true }, ben);
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
  await expect(given.undo({ seq: redo_seq }, anna)).rejects.toMatchObject(foreign);
  const again = await given.undo({ seq: redo_seq }, ben);
  expect(readFileSync(given.path('a'), 'utf8')).toBe('by anna');
  await expect(given.undo({ seq: again.redo_seq }, anna)).rejects.toMatchObject(foreign);
  await given.undo({ seq: again.redo_seq, anyone: true }, anna);
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
});

test('undo.B15 a protected file gets no before-image, by any path', async () => {
  await using given = await UndoCase.of({ '.env': 'SECRET', a: 'a', link: { symlink: '.env' } });
  await expect(given.write('.env', 'x')).rejects.toThrow('C211');
  await expect(given.write('link', 'x')).rejects.toThrow('C211');
  await expect(given.call('shell::fs::mv', { src: '.env', dst: 'b' })).rejects.toThrow();
  await given.write('a', 'b');
  const stored = readdirSync(given.dir.path('state'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const entry of stored) expect(readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')).not.toContain('SECRET');
});

test('selectors: only one is accepted, and a missing record is reported', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  await expect(given.undo()).rejects.toMatchObject({ code: 'C224' });
  await given.write('a', 'b');
  await given.write('n', 'n');
  await expect(given.undo({ seq: 1, steps: 2 })).rejects.toMatchObject({ code: 'C210' });
  for (const bad of [{ seq: 99 }, { to_label: 'no' }, { turn_id: 'no' }, { to_seq: 2 }, { paths: ['x'] }]) {
    await expect(given.undo(bad)).rejects.toMatchObject({ code: 'C224' });
  }
  const dry = await given.undo({ steps: 2, dry_run: true });
  expect(dry).toMatchObject({
    files: [
      { path: 'n', kind: 'deleted' },
      { path: 'a', kind: 'modified' },
    ],
  });
  expect(dry.redo_seq).toBeUndefined();
  await given.undo({ steps: 2, paths: ['a'] });
  expect(Object.keys(given.tree())).toEqual(['a', 'n']);
  await given.undo({ seq: 2 });
  await expect(given.undo({ seq: 2 })).rejects.toMatchObject({ code: 'C224' });
  expect(Object.keys(given.tree())).toEqual(['a']);
});

test('undoing a redone record by its number names the record to undo', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  await given.write('a', 'b');
  await given.undo({ seq: 1 });
  await expect(given.undo({ seq: 1 })).rejects.toThrow('record 1 is undone already, by record 2');
  await given.undo({ seq: 2 });
  await expect(given.undo({ seq: 1 })).rejects.toThrow(
    'was undone and redone, by record 3: to undo it again, undo record 3',
  );
  await given.undo({ seq: 3 });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
});

test('a redone record can be undone again by steps and by label', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  await given.call('coder::checkpoint', { label: 'start' });
  await given.write('a', 'b');
  const { redo_seq } = await given.undo();
  await given.undo({ seq: redo_seq });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('b');
  const again = await given.undo();
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
  await given.undo({ seq: again.redo_seq });
  await given.undo({ to_label: 'start' });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
  await expect(given.undo()).rejects.toMatchObject({ code: 'C224' });
});

test('checkpoints lists caller, turn, function and files, newest first', async () => {
  await using given = await UndoCase.of({ a: 'abc' });
  await given.write('a', 'b', { caller: 'anna', turn: 't' });
  await given.call('coder::checkpoint', { label: 'here' });
  const { redo_seq } = await given.undo({ seq: 1, anyone: true }, { caller: 'ben' });
  expect(await given.call('coder::checkpoints', { paths: ['a'] })).toMatchObject({
    truncated: false,
    seq: redo_seq,
    records: [
      { seq: redo_seq, caller: 'ben', undoes: [1], function_id: 'coder::undo' },
      {
        seq: 1,
        caller: 'anna',
        turn_id: 't',
        function_id: 'coder::create-file',
        files: ['a'],
        file_count: 1,
        undone_by: redo_seq,
      },
    ],
  });
});

test('undo.B11 a file over max_image_bytes is changed without a before-image, and the response says so', async () => {
  await using given = await UndoCase.of({ a: 'x'.repeat(5000) });
  given.cell = { ...given.cell, journal: { ...shippedCell.journal, max_image_bytes: 1000 } };
  expect(await given.write('a', 'now')).toMatchObject({
    results: [{ note: expect.stringContaining('journal.max_image_bytes') as string }],
  });
  expect(await given.records()).toMatchObject([{ skipped: 1, bytes: 0 }]);
  await expect(given.undo()).rejects.toMatchObject({ code: 'C227' });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('now');
});

const LARGE = 2 * 2 ** 30;

/** Operations on a large file: with it, or over it. */
const OVER_LARGE: [string, Record<string, unknown>][] = [
  ['coder::create-file', { files: [{ path: 'large', content: 'new', overwrite: true }] }],
  ['coder::delete-file', { paths: ['large'] }],
  ['coder::apply-patch', { patch: '*** Begin Patch\n*** Add File: large\n+new\n*** End Patch\n' }],
  ['coder::apply-patch', { patch: '*** Begin Patch\n*** Update File: small\n*** Move to: large\n*** End Patch\n' }],
  ['shell::fs::write', { path: 'large', content: 'new' }],
  ['shell::fs::rm', { path: 'large' }],
  ['shell::fs::mv', { src: 'small', dst: 'large', overwrite: true }],
  ['filesystem::write', { path: 'large', content: 'new' }],
  ['filesystem::rm', { path: 'large' }],
  ['filesystem::mv', { source: 'small', destination: 'large', overwrite: true }],
  ['filesystem::cp', { source: 'small', destination: 'large', overwrite: true }],
  ['filesystem::cp', { source: 'd', destination: 'over', overwrite: true }],
];

test.each(OVER_LARGE)('undo.B11 %s says that a file of 2 GB is not kept: %o', async (id, payload) => {
  await using given = await UndoCase.of({ large: '', small: 'small', 'd/f': 'f', 'over/f': '' });
  for (const path of ['large', 'over/f']) truncateSync(given.path(path), LARGE);
  const reply = JSON.stringify(await given.call(id, payload));
  expect(reply).toMatch(/"note":"[^"]*journal\.max_image_bytes/);
  expect(await given.records()).toMatchObject([{ skipped: 1, bytes: 0 }]);
  await expect(given.undo()).rejects.toMatchObject({ code: 'C227' });
});

test('undo.B11 a move of a file of 2 GB, and the delete of a directory with one, have no note and are undone', async () => {
  await using given = await UndoCase.of({ 'd/large': '', 'd/small': 'small' });
  truncateSync(given.path('d/large'), LARGE);
  const replies = [
    await given.call('shell::fs::mv', { src: 'd/large', dst: 'moved' }),
    await given.call('filesystem::mv', { source: 'moved', destination: 'd/large' }),
    await given.call('coder::delete-file', { paths: ['d'], recursive: true }),
  ];
  expect(JSON.stringify(replies)).not.toContain('note');
  await given.undo();
  expect(statSync(given.path('d/large')).size).toBe(LARGE);
});

test('undo.B12 coder.P24 the oldest records are evicted first, until the journal is within its limits', async () => {
  await using given = await UndoCase.of({ a: 'x'.repeat(1000) });
  const journal = { ...shippedCell.journal, max_bytes: 20_000, max_records: 60 };
  const { journal: kept, release } = shareJournal(given.root, { state_dir: given.dir.path('state'), journal })!;
  given.cell = { ...given.cell, journal };
  for (let i = 0; i < 40; i++) await given.write('a', `${i}`.padEnd(1000));
  await kept.evict();
  const records = await given.records();
  expect(records.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(18_000);
  expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: records.length }, (_, at) => 40 - at));
  expect(readdirSync(kept.store.pathOf('images', 'x').slice(0, -2))).toHaveLength(records.length);
  await expect(given.undo({ to_seq: 3 })).rejects.toMatchObject({ code: 'C227' });
  await given.undo({ steps: 5 });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('34'.padEnd(1000));

  await given.call('coder::checkpoint', { label: 'kept longest' });
  for (let i = 0; i < 70; i++) await given.write('b', `${i}`);
  await kept.evict();
  expect((await given.records()).length).toBeLessThanOrEqual(54);
  expect((await given.records()).map(({ label }) => label)).toContain('kept longest');
  release();
});

test('undo.B12 a removed directory larger than the journal is evicted first, a file is not kept, and the rest stays', async () => {
  await using given = await UndoCase.of({ a: 'a', 'd/large': 'x'.repeat(30_000), large: 'x'.repeat(30_000) });
  const journal = { ...shippedCell.journal, max_bytes: 20_000 };
  given.cell = { ...given.cell, journal };
  const { journal: kept, release } = shareJournal(given.root, { state_dir: given.dir.path('state'), journal })!;
  await given.write('a', 'b');
  await given.call('coder::delete-file', { paths: ['d'], recursive: true });
  expect(await given.call('shell::fs::rm', { path: 'large' })).toMatchObject({ note: expect.anything() as unknown });
  await kept.evict();
  expect(await given.records()).toMatchObject([
    { seq: 3, skipped: 1 },
    { seq: 1, bytes: 1 },
  ]);
  await expect(given.undo({ seq: 2 })).rejects.toMatchObject({ code: 'C227' });
  await given.undo({ seq: 1 });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('a');
  release();
});

test('undo.B12 records and checkpoints older than max_age_days are evicted, newer ones are not', async () => {
  await using given = await UndoCase.of({ a: 'a' });
  const journal = { ...shippedCell.journal, max_age_days: 3 };
  given.cell = { ...given.cell, journal };
  const { journal: kept, release } = shareJournal(given.root, { state_dir: given.dir.path('state'), journal })!;
  const daysAgo = (days: number) => vi.setSystemTime(Date.now() - days * 86_400_000);
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    daysAgo(3.1);
    await given.call('coder::checkpoint', { label: 'old' });
    await given.write('a', 'old');
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['Date'] });
    daysAgo(2.9);
    await given.write('a', 'recent');
  } finally {
    vi.useRealTimers();
  }
  await given.write('a', 'now');
  await kept.evict();
  expect((await given.records()).map(({ seq }) => seq)).toEqual([4, 3]);
  expect(readdirSync(kept.store.pathOf('images', 'x').slice(0, -2)).sort()).toEqual(['3.0', '4.0']);
  await expect(given.undo({ seq: 2 })).rejects.toMatchObject({ code: 'C227' });
  await given.undo({ steps: 2 });
  expect(readFileSync(given.path('a'), 'utf8')).toBe('old');
  release();
});

test('max_records: 0 switches the journal off', async () => {
  await using given = await UndoCase.of({ a: 'a', b: 'a' });
  given.cell = { ...given.cell, journal: { ...shippedCell.journal, max_records: 0 } };
  await given.write('a', 'b');
  await given.call('shell::fs::sed', { path: '.', pattern: 'a', replacement: 'c', recursive: true });
  await expect(given.undo()).rejects.toMatchObject({
    code: 'C224',
    message: expect.stringContaining('max_records') as string,
  });
});

test('diffs returns the changed lines, of undone and redone records too', async () => {
  await using given = await UndoCase.of({ a: 'one\ntwo\n' });
  const record = (...lines: string[]) => ({ changes: [{ path: 'a', kind: 'modified', hunks: [{ lines }] }] });
  const [edited, restored] = [record(' one', '-two', '+2'), record(' one', '-2', '+two')];
  const shown = () => given.call('coder::checkpoints', { diffs: true });
  await given.edit('a', 'two', '2');
  expect(await shown()).toMatchObject({ records: [edited] });
  await given.undo();
  expect(await shown()).toMatchObject({ records: [restored, edited] });
  await given.undo({ seq: 2 });
  await given.edit('a', 'one', '1');
  expect(await shown()).toMatchObject({ records: [{}, edited, restored, edited] });
});
