/** coder::undo where it is hard: merges over several records, parts of records, two servers, a full disk. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

import { expect, test } from 'vitest';

import { shippedCell } from '#contract';
import { NOBODY_UID } from '#testing/basics';
import { Journal } from '../../src/host/journal/journal.ts';
import { shareJournal } from '../../src/host/journal/shared-journal.ts';
import { UndoCase } from './undo-support.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const LIMITS = { maxBytes: 1e9, maxRecords: 1000, maxAgeMs: 1e12, maxImageBytes: 1e9 };

const read = (given: UndoCase, path: string) => readFileSync(given.path(path), 'utf8');

test('a merge over two records of one file takes both back and keeps the later edit', async () => {
  await using given = await UndoCase.of({ f: LINES });
  await given.edit('f', 'line 3\n', 'agent\n');
  await given.edit('f', 'line 12\n', 'agent\n');
  const edited = read(given, 'f').replace('line 25', 'person');
  writeFileSync(given.path('f'), edited);
  const { redo_seq } = await given.undo({ steps: 2, on_conflict: 'merge' });
  expect(read(given, 'f')).toBe(LINES.replace('line 25', 'person'));
  await given.undo({ seq: redo_seq });
  expect(read(given, 'f')).toBe(edited);
});

test('a merge does not use a damaged before-image', async () => {
  await using given = await UndoCase.of({ f: LINES });
  await given.edit('f', 'line 3\n', 'agent\n');
  appendFileSync(given.path('f'), 'person\n');
  const images = readdirSync(given.dir.path('state'), { recursive: true }).map(String);
  writeFileSync(
    given.dir.path(`state/${images.find((name) => name.endsWith('/1.0'))}`),
    LINES.replace('line 3', 'lies'),
  );
  await expect(given.undo({ on_conflict: 'merge' })).rejects.toMatchObject({
    code: 'C223',
    extra: { conflicts: [{ mergeable: false }] },
  });
  expect(read(given, 'f')).not.toContain('lies');
});

test('paths selects the newest records that changed them, and each part is undone once', async () => {
  await using given = await UndoCase.of({ a: '0', b: '0' });
  for (const text of ['1', '2']) await given.write('a', text);
  await given.call('coder::create-file', {
    files: ['a', 'b'].map((path) => ({ path, content: '3', overwrite: true })),
  });
  await given.write('b', '4');
  for (const text of ['2', '1', '0']) {
    await given.undo({ paths: ['a'] });
    expect(read(given, 'a')).toBe(text);
  }
  await expect(given.undo({ paths: ['a'] })).rejects.toMatchObject({ code: 'C224' });
  expect(read(given, 'b')).toBe('4');
  const { undone } = await given.undo({ steps: 2 });
  expect(undone).toMatchObject([{ seq: 4 }, { seq: 3, restored: 1 }]);
  expect([read(given, 'a'), read(given, 'b')]).toEqual(['0', '0']);
  expect(await given.records()).toMatchObject([{}, {}, {}, {}, {}, { undone_by: 8 }, {}, {}]);
});

test('a part that was undone is redone by redo_seq, and its file is not a hard link to the journal', async () => {
  await using given = await UndoCase.of({ a: '0', b: '0' });
  await given.call('coder::create-file', {
    files: ['a', 'b'].map((path) => ({ path, content: '1', overwrite: true })),
  });
  const { redo_seq } = await given.undo({ paths: ['a'] });
  expect(statSync(given.path('a')).nlink).toBe(1);
  await given.undo({ seq: redo_seq });
  expect([read(given, 'a'), read(given, 'b')]).toEqual(['1', '1']);
  await given.undo({ to_seq: 0 });
  expect([read(given, 'a'), read(given, 'b')]).toEqual(['0', '0']);
});

test('a file that skip left unchanged can be undone later', async () => {
  await using given = await UndoCase.of({ f: 'one\n', g: 'one\n' });
  await given.call('coder::create-file', {
    files: ['f', 'g'].map((path) => ({ path, content: 'two\n', overwrite: true })),
  });
  writeFileSync(given.path('f'), 'three\n');
  await given.undo({ on_conflict: 'skip' });
  expect(read(given, 'g')).toBe('one\n');
  writeFileSync(given.path('f'), 'two\n');
  await given.undo({ seq: 1 });
  expect(read(given, 'f')).toBe('one\n');
  await expect(given.undo({ seq: 1 })).rejects.toMatchObject({ code: 'C224' });
});

test('undo keeps a mode that was set after the record', async () => {
  await using given = await UndoCase.of({ f: { content: 'a\n', mode: 0o644 } });
  await given.write('f', 'b\n');
  await given.write('f', 'c\n');
  chmodSync(given.path('f'), 0o755);
  const { redo_seq } = await given.undo({ steps: 2 });
  expect([read(given, 'f'), statSync(given.path('f')).mode & 0o777]).toEqual(['a\n', 0o755]);
  await given.undo({ seq: redo_seq });
  expect([read(given, 'f'), statSync(given.path('f')).mode & 0o777]).toEqual(['c\n', 0o755]);
});

test('directories replaced by files, and files by directories, are undone and redone together', async () => {
  await using given = await UndoCase.of({ 'd/x': 'x', 'd/y/z': 'z' });
  const before = given.tree();
  await given.call('coder::delete-file', { paths: ['d'], recursive: true });
  await given.write('d', 'file');
  await given.call('coder::delete-file', { paths: ['d'] });
  await given.write('d/x/deep', 'a directory again');
  await given.call('shell::fs::mv', { src: 'd', dst: 'e' });
  await given.write('d', 'a file again');
  const after = given.tree();
  let { redo_seq } = await given.undo({ to_seq: 0 });
  for (const expected of [after, before, after, before]) {
    expect(given.tree()).not.toEqual(expected);
    ({ redo_seq } = await given.undo({ seq: redo_seq }));
    expect(given.tree()).toEqual(expected);
  }
});

test('a record of a second server does not get the number of a record that the first has undone', async () => {
  await using given = await UndoCase.of({ a: '0' });
  const second = new Journal(given.root, { stateDir: given.dir.path('state'), limits: LIMITS });
  second.records();
  await given.write('a', '1');
  await given.undo();
  const record = second.begin({ functionId: 'second' }, {});
  record.note([]);
  second.close();
  expect((await given.records()).map(({ seq, function_id }) => [seq, function_id])).toEqual([
    [3, 'second'],
    [2, 'coder::undo'],
    [1, 'coder::create-file'],
  ]);
});

test('large before-images are evicted soon, not after hundreds of records', async () => {
  await using given = await UndoCase.of({ a: '' });
  const journal = { ...shippedCell.journal, max_bytes: 1_000_000 };
  const { release } = shareJournal(given.root, { state_dir: given.dir.path('state'), journal })!;
  given.cell = { ...given.cell, journal };
  const bytes = async () => (await given.records()).reduce((sum, record) => sum + record.bytes, 0);
  // The first record of a server is checked anyway, so twice.
  for (let round = 0; round < 2; round++) {
    for (let write = 0; write < 20; write++) await given.write('a', `${round} ${write}`.padEnd(100_000));
    await expect.poll(bytes).toBeLessThanOrEqual(1_000_000);
  }
  release();
});

test('a damaged list of steps does not keep the server from starting', async () => {
  await using given = await UndoCase.of({ a: '0' });
  await given.write('a', '1');
  const [store] = readdirSync(given.dir.path('state/journal'));
  const prepared = given.dir.path(`state/journal/${store}/prepared`);
  for (const [at, text] of ['\0\0\0\n', '{"seq":7\n{}\n', 'null\n', '', '{"owner":"x"'].entries()) {
    writeFileSync(`${prepared}/${100 + at}`, text);
  }
  writeFileSync(`${prepared}/.hidden`, 'x');
  const shared = shareJournal(given.root, { state_dir: given.dir.path('state'), journal: shippedCell.journal })!;
  await shared.recovered;
  shared.release();
  await given.undo();
  expect(read(given, 'a')).toBe('0');
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

test.skipIf(!canMount)(
  'a state directory that is full refuses the write and is not filled up by parts of images',
  async () => {
    await using given = await UndoCase.of({ big: 'x'.repeat(2_000_000), small: 's'.repeat(1000) });
    const state = given.dir.path('full');
    execFileSync('mkdir', [state]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', state]);
    try {
      given.cell = { state_dir: state };
      given.precisionNs = 1_000_000n;
      const tree = given.tree();
      for (let round = 0; round < 3; round++) await expect(given.write('big', 'new')).rejects.toThrow('ENOSPC');
      expect(given.tree()).toEqual(tree);
      await given.write('small', 'new');
      await given.undo();
      expect(given.tree()).toEqual(tree);
    } finally {
      execFileSync('umount', ['-l', state]);
    }
    expect(existsSync(state)).toBe(true);
  },
);

test('a workspace and a journal that were restored from a backup can be undone', async () => {
  await using given = await UndoCase.of({ f: LINES, 'd/x': 'x\n' });
  const before = given.tree();
  await given.edit('f', 'line 3\n', 'agent\n');
  await given.call('coder::delete-file', { paths: ['d'], recursive: true });
  const inDir = ['-C', given.dir.root];
  execFileSync('tar', ['czf', given.dir.path('backup.tar.gz'), '--format=posix', ...inDir, 'ws', 'state']);
  rmSync(given.root, { recursive: true });
  rmSync(given.dir.path('state'), { recursive: true });
  execFileSync('tar', ['xzf', given.dir.path('backup.tar.gz'), ...inDir]);
  await given.undo({ steps: 2 });
  expect(given.tree()).toEqual(before);
});

test('a copy over a directory refuses a name that is not UTF-8, and leaves nothing', async () => {
  await using given = await UndoCase.of({ 'from/a': 'a', 'over/b': 'b' });
  writeFileSync(Buffer.concat([Buffer.from(given.path('from/')), Buffer.from([0xff])]), 'bytes');
  const copy = given.call('filesystem::cp', { source: 'from', destination: 'over', overwrite: true });
  await expect(copy).rejects.toThrow('is not a name that the file system accepts');
  expect(readdirSync(given.path('over'))).toEqual(['b']);
});

test.skipIf(!canMount)('an ordinary user undoes the delete of a directory that it may not write to', async () => {
  await using given = await UndoCase.of({ 'd/sub/x': 'x' });
  // It cannot rename the directory either, which is copied then.
  given.precisionNs = 1_000_000n;
  for (const path of ['d/sub', 'd']) chmodSync(given.path(path), 0o555);
  execFileSync('chown', ['-R', `${NOBODY_UID}:${NOBODY_UID}`, given.dir.root]);
  const before = given.tree();
  process.seteuid!(NOBODY_UID);
  try {
    await given.call('coder::delete-file', { paths: ['d'], recursive: true });
    expect(existsSync(given.path('d'))).toBe(false);
    await given.undo();
    expect(given.tree()).toEqual(before);
  } finally {
    process.seteuid!(0);
  }
  const left = readdirSync(given.dir.path('state'), { recursive: true }).map(String);
  expect(left.filter((name) => name.includes('trees/'))).toEqual([]);
});

test('undo.B4 a redo merges with what was edited since the undo, of an edit and of a patch', async () => {
  await using given = await UndoCase.of({ f: LINES });
  const patch = '*** Begin Patch\n*** Update File: f\n@@\n-line 3\n+agent\n*** End Patch\n';
  for (const change of [
    () => given.edit('f', 'line 3\n', 'agent\n'),
    () => given.call('coder::apply-patch', { patch }),
  ]) {
    await change();
    const { redo_seq } = await given.undo();
    expect(read(given, 'f')).toBe(LINES);
    writeFileSync(given.path('f'), LINES.replace('line 25', 'person'));
    await expect(given.undo({ seq: redo_seq })).rejects.toMatchObject({
      code: 'C223',
      extra: { conflicts: [{ path: 'f', mergeable: true }] },
    });
    await given.undo({ seq: redo_seq, on_conflict: 'merge' });
    expect(read(given, 'f')).toBe(LINES.replace('line 3\n', 'agent\n').replace('line 25', 'person'));
    writeFileSync(given.path('f'), LINES);
  }
});

test('undo.B4 the undo of a patch merges with a later edit', async () => {
  await using given = await UndoCase.of({ f: LINES });
  const patch = '*** Begin Patch\n*** Update File: f\n@@\n-line 3\n+agent\n*** End Patch\n';
  await given.call('coder::apply-patch', { patch });
  writeFileSync(given.path('f'), read(given, 'f').replace('line 25', 'person'));
  await given.undo({ on_conflict: 'merge' });
  expect(read(given, 'f')).toBe(LINES.replace('line 25', 'person'));
});

test('undo.B12 the lines of the log count: records without before-images are evicted too', async () => {
  await using given = await UndoCase.of({ f: '' });
  const journal = { ...shippedCell.journal, max_bytes: 50_000 };
  given.cell = { ...given.cell, journal };
  const { release } = shareJournal(given.root, { state_dir: given.dir.path('state'), journal })!;
  const modes = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? '0600' : '0644'));
  for (const mode of modes) await given.call('shell::fs::chmod', { path: 'f', mode });
  const [store] = readdirSync(given.dir.path('state/journal'));
  const size = () => statSync(given.dir.path(`state/journal/${store}/log`)).size;
  expect(size()).toBeGreaterThan(50_000);
  await expect.poll(size).toBeLessThanOrEqual(50_000);
  expect((await given.records()).length).toBeGreaterThan(10);
  release();
});
