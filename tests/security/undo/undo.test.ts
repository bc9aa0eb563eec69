/**
 * Attacks on undo: SIGKILL before every system call, symlinks swapped into the path, a store changed by a command, a full
 * disk, and several processes over one workspace.
 */
import { execFile, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { shippedCell } from '#contract';
import { findUndo, HostError, JailChanges, makeUndo, NoRecord, openJail } from '#host';
import { rounds, tempDir, type TempDir } from '#testing';
import type { SetEntry } from '../../../src/host/journal/set-entry.ts';
import { shareJournal } from '../../../src/host/journal/shared-journal.ts';
import { UndoCase } from '../../spec/undo-support.ts';
import { FOLDER_ABOVE, FOLDER_ITSELF, OUTSIDE_TEXT, racePlace } from '../jail/jail-race.ts';
import { whileSwapping } from '../jail/jail-swapper.ts';
import { snapshot } from '../jail/jail-write-support.ts';
import set from './undo-set.json' with { type: 'json' };

const ROUNDS = rounds(400, 4000, 200_000);
/** Each kills before every system call of four changes, some 60 in all. */
const PASSES = rounds(1, 2, 17);
const KILLED = fileURLToPath(new URL('undo-killed.mjs', import.meta.url));
const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));
const { signal } = new AbortController();
const exec = promisify(execFile);

function open(root: string, stateDir: string, journal = shippedCell.journal) {
  const shared = shareJournal(root, { state_dir: stateDir, journal })!;
  const jail = openJail(root);
  const changes = new JailChanges(jail, { isSynced: false, journalOf: () => shared.journal });
  const context = { jail, changes, journal: shared.journal };
  const undo = async (select: { seq?: number } = {}) => {
    const request = { select, onConflict: 'refuse', anyone: true } as const;
    const plan = await findUndo(request, context, { signal });
    if (plan.conflicts.length > 0 || plan.losses.length > 0) return { conflicts: plan.conflicts, losses: plan.losses };
    await makeUndo(plan, context, { signal });
    return 'undone' as const;
  };
  const write = (path: string, text: string) =>
    changes.onTarget(path, { throwIfAborted() {}, call: { callId: path } }, (target) =>
      changes.write(target, Buffer.from(text), { parents: true }),
    );
  return { ...context, ...shared, write, undo, [Symbol.dispose]: shared.release };
}

const store = (stateDir: string) => join(stateDir, 'journal', readdirSync(join(stateDir, 'journal'))[0]!);

describe('undo.B8 coder.P22 killed before each system call', () => {
  let dir: TempDir;
  beforeAll(async () => {
    dir = await tempDir({
      'old/a': 'a\n',
      'old/b': 'b\n',
      'old/d/x': 'x\n',
      'old/d/y/z': 'z\n',
      'old/link': { symlink: 'a' },
    });
  });
  afterAll(() => dir[Symbol.asyncDispose]());

  const texts = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.workcell-'))
      .map(
        (entry) =>
          `${entry.parentPath.slice(root.length)}/${entry.name} ${entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), 'utf8') : ''}`,
      )
      .sort();

  test.each(['write', 'remove', 'set', 'undo'])(
    '%s: files are old or new, never mixed, and undo works afterwards',
    async (what) => {
      const before = dir.path(`${what}-before`);
      cpSync(dir.path('old'), `${before}/ws`, { recursive: true, verbatimSymlinks: true });
      const start = async (place: string, last: number) =>
        exec(process.execPath, [KILLED, `${place}/ws`, `${place}/state`, what, `${last}`]).then(
          ({ stdout }) => {
            made = JSON.parse(stdout) as string[];
            return 'through';
          },
          (error: unknown) => {
            if ((error as { signal?: string }).signal === 'SIGKILL') return 'killed';
            throw error;
          },
        );
      let made: string[] = [];
      const found = { old: 0, new: 0, between: 0, undone: 0, notUndone: 0 };
      // The two with the most calls: every fourth is enough for a smoke test, others in each run.
      const step = what === 'set' || what === 'undo' ? rounds(4, 1, 1) : 1;
      for (let last = 1 + randomInt(step), pass = 0; pass < PASSES; last += step) {
        const place = dir.path(`${what}-place`);
        rmSync(place, { recursive: true, force: true });
        cpSync(`${before}/ws`, `${place}/ws`, { recursive: true, verbatimSymlinks: true });
        if (what === 'undo') await changeBefore(`${place}/ws`, `${place}/state`);
        const old = texts(`${place}/ws`);
        const end = await start(place, last);
        using server = open(`${place}/ws`, `${place}/state`);
        await server.recovered;
        const now = texts(`${place}/ws`);
        if (isDeepEqual(now, old)) found.old++;
        else if (end === 'through' || isWhole(now, what)) found.new++;
        else found.between++;
        if (what !== 'undo' && !isDeepEqual(now, old)) {
          const outcome = await server.undo();
          if (outcome === 'undone' && isDeepEqual(texts(`${place}/ws`), old)) found.undone++;
          else found.notUndone++;
        }
        if (end === 'through') [last, pass] = [1 + randomInt(step) - step, pass + 1];
      }
      console.log(`${what} killed at every step:`, { steps: made.length, ...found });
      // The before-image is linked without node:fs where that is possible.
      if (what === 'write') expect(made).toContain(openJail('/').opening === 'at-once' ? 'linkAt' : 'linkSync');
      expect([found.between, found.notUndone]).toEqual([0, 0]);
      expect(found.new).toBeGreaterThan(0);
      expect(found.old).toBeGreaterThan(what === 'write' ? 2 : 1);
    },
    rounds(300_000, 600_000, 3_600_000),
  );

  async function changeBefore(root: string, stateDir: string): Promise<void> {
    using server = open(root, stateDir);
    await server.recovered;
    const entries = set.map((step) => ({ ...step, content: step.content && Buffer.from(step.content) }));
    await server.changes.writeSet(entries as SetEntry[], { signal });
  }

  const isDeepEqual = (a: string[], b: string[]) => a.join('\n') === b.join('\n');
  const isWhole = (now: string[], what: string) => {
    const text = now.join('');
    if (what === 'write') return text.includes('/a A\n') && text.includes('/b b\n');
    if (what === 'remove') return !text.includes('/d ') && text.includes('/a a\n');
    if (what === 'set')
      return (
        text.includes('/a A\n') && text.includes('/n n\n') && text.includes('/c b\n') && !/\/(b|d|link) /.test(text)
      );
    return (
      text.includes('/a a\n') &&
      text.includes('/b b\n') &&
      text.includes('/d ') &&
      text.includes('/link ') &&
      !text.includes('/new')
    );
  };
});

test('undo.B8 coder.P22 a recursive chmod that was killed in the middle is undone', async () => {
  await using dir = await tempDir({ 'ws/d/x': 'x\n', 'ws/d/y/z': 'z\n', 'ws/d/y/link': { symlink: 'z' } });
  const modes = () =>
    ['d', 'd/x', 'd/y', 'd/y/z'].map((path) => (statSync(dir.path(`ws/${path}`)).mode & 0o777).toString(8));
  const before = modes();
  const found = { old: 0, between: 0, new: 0 };
  const step = rounds(2, 1, 1);
  for (let last = step, isKilled = true; isKilled; last += step) {
    rmSync(dir.path('state'), { recursive: true, force: true });
    isKilled = await exec(process.execPath, [KILLED, dir.path('ws'), dir.path('state'), 'chmod', `${last}`]).then(
      () => false,
      (error: unknown) => (error as { signal?: string }).signal === 'SIGKILL',
    );
    const now = modes();
    const count = now.filter((mode) => mode === '700').length;
    found[count === 0 ? 'old' : count === now.length ? 'new' : 'between']++;
    using server = open(dir.path('ws'), dir.path('state'));
    if (count > 0) expect(await server.undo()).toBe('undone');
    expect(modes()).toEqual(before);
  }
  console.log('chmod -R killed at every step:', found);
  expect(found).toEqual({ old: expect.any(Number) as number, between: expect.any(Number) as number, new: 1 });
  expect(found.between).toBeGreaterThan(0);
});

test.each([
  ['the parent directory', FOLDER_ABOVE],
  ['the directory itself', FOLDER_ITSELF],
])(
  'undo.B19 coder.P23 undo writes nothing outside while %s is swapped with a symlink to outside',
  async (title, [name, evil]) => {
    await using place = await racePlace();
    await using dir = await tempDir();
    using given = open(place.workspace, dir.path('state'));
    const before = snapshot(place.outside);
    const counts = { undone: 0, conflicts: 0, refused: 0, unwritten: 0, bugs: 0 };
    let isWritten = false;
    await whileSwapping([`${place.workspace}/${name}`, `${place.workspace}/${evil}`], async () => {
      for (
        let tries = 0;
        tries < ROUNDS || (tries < 20 * ROUNDS && (counts.undone === 0 || counts.refused === 0));
        tries += isWritten ? 1 : 0
      ) {
        // Only an undo counts as a try; a write that a swap refused is made again.
        try {
          if (!isWritten) {
            await given.write('a/b/c/f.txt', `round ${tries}`);
            isWritten = true;
          }
          counts[(await given.undo()) === 'undone' ? 'undone' : 'conflicts']++;
          isWritten = false;
          tries++;
        } catch (error) {
          if (!(error instanceof HostError || error instanceof NoRecord)) counts.bugs++;
          else counts[isWritten ? 'refused' : 'unwritten']++;
        }
      }
    });
    console.log(`${title} swapped while undoing:`, counts);
    expect(snapshot(place.outside)).toEqual(before);
    expect(counts.bugs).toBe(0);
    expect(counts.undone).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
    const stored = readdirSync(join(store(dir.path('state')), 'images')).map((image) =>
      readFileSync(join(store(dir.path('state')), 'images', image), 'utf8'),
    );
    expect(stored.filter((text) => text.includes(OUTSIDE_TEXT))).toEqual([]);
  },
  rounds(600_000, 600_000, 3_600_000),
);

test('undo.B13 coder.P23 a damaged before-image, directory or log is reported, and nothing is written', async () => {
  await using dir = await tempDir({
    'ws/a': 'former\n',
    'ws/b': 'former\n',
    'ws/d/x': 'former\n',
    outside: 'outside\n',
  });
  using given = open(dir.path('ws'), dir.path('state'));
  await given.write('a', 'now');
  await given.write('b', 'now');
  await given.changes.onEntry('d', { throwIfAborted() {} }, (entry) =>
    given.changes.remove(entry, { recursive: true, signal }),
  );
  const at = store(dir.path('state'));
  writeFileSync(join(at, 'images/1.0'), 'forged\n');
  rmSync(join(at, 'images/2.0'));
  writeFileSync(join(at, 'trees', readdirSync(join(at, 'trees'))[0]!, 'x'), 'forged, and longer\n');
  const tree = snapshot(dir.path('ws'));
  const lossOf = async (seq: number) => ((await given.undo({ seq })) as { losses: readonly object[] }).losses;
  expect(await lossOf(1)).toMatchObject([{ path: 'a', problem: 'was damaged in the journal' }]);
  expect(await lossOf(2)).toMatchObject([{ path: 'b', problem: 'is no longer in the journal' }]);
  expect(await lossOf(3)).toMatchObject([{ path: 'd', problem: 'was damaged in the journal' }]);

  const line = (path: string, image: string) => {
    const before = { kind: 'file', mode: 0o644, uid: 0, gid: 0, size: 7, mtimeMs: 0, image };
    const text = JSON.stringify({
      seq: 9,
      part: 0,
      at: Date.now(),
      changes: [{ path, kind: 'put', before, after: { kind: 'absent' } }],
    });
    return `${text}\t${crc32(text).toString(16).padStart(8, '0')}\n`;
  };
  appendFileSync(join(at, 'log'), `${line('../forged', '1.0')}not a line\n{"seq":10}\t00000000\n`);
  await expect(given.undo({ seq: 9 })).rejects.toThrow(HostError);
  await expect(given.undo({ seq: 10 })).rejects.toThrow(NoRecord);
  expect(snapshot(dir.path('ws'))).toEqual(tree);
  expect(existsSync(dir.path('forged'))).toBe(false);
});

test('undo.B13 records of a forged log that undo each other do not keep an undo busy', async () => {
  await using dir = await tempDir({ 'ws/a': 'a\n' });
  using given = open(dir.path('ws'), dir.path('state'));
  await given.write('a', 'now');
  const line = (seq: number, undoes: number[]) => {
    const change = { path: 'a', kind: 'mode', before: { kind: 'other' }, after: { kind: 'other' } };
    const text = JSON.stringify({ seq, part: 0, at: Date.now(), undoes, changes: [change] });
    return `${text}\t${crc32(text).toString(16).padStart(8, '0')}\n`;
  };
  // The first line names a record that does not exist yet; no record undoes the last ones.
  appendFileSync(join(store(dir.path('state')), 'log'), [line(7, [8]), line(8, [7]), line(9, [9])].join(''));
  await expect(given.undo({ seq: 7 })).rejects.toThrow(NoRecord);
  // Record 8 counts as a redo, which changed nothing that undo knows; before it is the write.
  expect(await given.undo()).toBe('undone');
  expect(await given.undo()).toBe('undone');
  expect(readFileSync(dir.path('ws/a'), 'utf8')).toBe('a\n');
});

test('undo.B13 coder.P23 a large removed directory that is changed before it is summed is reported as damaged', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `${i}\n`]));
  const folders = ['whole', 'forged', 'longer', 'added', 'gone', 'mode'];
  const entries = folders.flatMap((name) => Object.entries(files).map(([file, text]) => [`ws/${name}/${file}`, text]));
  await using dir = await tempDir(Object.fromEntries(entries) as Record<string, string>);
  using given = open(dir.path('ws'), dir.path('state'));
  // Without the directory itself: a rename changes its ctime.
  const tree = snapshot(dir.path('ws/whole')).slice(1);
  const removed = async (name: string) => {
    await given.changes.onEntry(name, { throwIfAborted() {}, call: { callId: name } }, (entry) =>
      given.changes.remove(entry, { recursive: true, signal }),
    );
    const trees = join(store(dir.path('state')), 'trees');
    const newest = readdirSync(trees).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))[0]!;
    // Times of old kernels come in steps: of two changes within one, the second does not show.
    await expect
      .poll(() => (writeFileSync(dir.path('clock'), ''), statSync(dir.path('clock')).ctimeMs))
      .toBeGreaterThan(statSync(join(trees, newest)).ctimeMs);
    return join(trees, newest);
  };
  await removed('whole');
  writeFileSync(join(await removed('forged'), 'f7'), '8\n');
  writeFileSync(join(await removed('longer'), 'f7'), 'forged, and longer\n');
  writeFileSync(join(await removed('added'), 'new'), 'forged\n');
  rmSync(join(await removed('gone'), 'f299'));
  chmodSync(join(await removed('mode'), 'f0'), 0o777);
  for (const [i, name] of folders.entries()) {
    const outcome = await given.undo({ seq: i + 1 });
    if (name === 'whole') expect(outcome).toBe('undone');
    else expect(outcome).toMatchObject({ losses: [{ path: name, problem: 'was damaged in the journal' }] });
  }
  expect(snapshot(dir.path('ws/whole')).slice(1)).toEqual(tree);
});

test('undo.B8 undo and redo of a large removed directory work when its sum was never written', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`ws/d/f${i}`, `${i}\n`]));
  await using dir = await tempDir(files);
  const tree = snapshot(dir.path('ws/d')).slice(1);
  {
    using killed = open(dir.path('ws'), dir.path('state'));
    await killed.changes.onEntry('d', { throwIfAborted() {} }, (entry) =>
      killed.changes.remove(entry, { recursive: true, signal }),
    );
  }
  expect(readFileSync(join(store(dir.path('state')), 'log'), 'utf8')).not.toContain('sums');
  using given = open(dir.path('ws'), dir.path('state'));
  expect(await given.undo()).toBe('undone');
  expect(snapshot(dir.path('ws/d')).slice(1)).toEqual(tree);
  expect(await given.undo({ seq: 2 })).toBe('undone');
  expect(existsSync(dir.path('ws/d'))).toBe(false);
});

test('the store has mode 0700, and no file function reaches it even inside the workspace', async () => {
  await using given = await UndoCase.of({ a: 'former' });
  given.cell = { state_dir: given.path('state') };
  await given.write('a', 'now');
  const at = join(given.root, 'state/journal');
  expect(statSync(store(join(given.root, 'state'))).mode & 0o777).toBe(0o700);
  const image = `state/journal/${readdirSync(at)[0]}/images/1.0`;
  expect(existsSync(given.path(image))).toBe(true);
  await expect(given.call('coder::read-file', { path: image })).rejects.toMatchObject({ code: 'C211' });
  await expect(given.call('filesystem::read', { path: image })).rejects.toThrow();
  await expect(given.call('shell::fs::rm', { path: 'state', recursive: true })).rejects.toThrow();
  const found = (await given.call('coder::search', { query: 'former' })) as { content_matches: unknown[] };
  expect(found.content_matches).toEqual([]);
});

test('undo.B9 coder.P23 without space in the store a change is refused and the file is unchanged', async ({ skip }) => {
  await using dir = await tempDir({ 'ws/a': 'former\n', 'ws/b': 'former\n', 'state/': '' });
  const isMounted =
    process.getuid?.() === 0 &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir.path('state')]).status === 0;
  if (!isMounted) skip('mounting a small tmpfs needs root');
  try {
    using given = open(dir.path('ws'), dir.path('state'));
    await given.write('a', 'now\n');
    // Without the directory itself: its mtime changes when staged files are created and removed in it.
    const tree = snapshot(dir.path('ws')).slice(1);
    writeFileSync(dir.path('state/fill'), '');
    try {
      for (;;) appendFileSync(dir.path('state/fill'), 'x'.repeat(4096));
    } catch {
      // The disk is full.
    }
    let refused = 0;
    for (let i = 0; i < 50; i++) {
      const changing = [
        given.write('a', `${i}\n`),
        given.changes.writeSet(
          [
            { kind: 'write', path: 'b', content: Buffer.from('x') },
            { kind: 'delete', path: 'a' },
          ],
          { signal },
        ),
        given.undo({ seq: 1 }),
      ];
      for (const result of await Promise.allSettled(changing)) {
        if (result.status === 'rejected' && result.reason instanceof HostError) refused++;
      }
    }
    console.log('without room:', { refused });
    expect(refused).toBe(150);
    expect(snapshot(dir.path('ws')).slice(1)).toEqual(tree);
    rmSync(dir.path('state/fill'));
    expect(await given.undo({ seq: 1 })).toBe('undone');
    expect(readFileSync(dir.path('ws/a'), 'utf8')).toBe('former\n');
  } finally {
    spawnSync('umount', ['-l', dir.path('state')]);
  }
});

test('edits work without a writable store', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root writes everywhere');
  await using dir = await tempDir({ 'ws/a': 'a', 'state/': '' });
  chmodSync(dir.path('state'), 0o500);
  using given = open(dir.path('ws'), dir.path('state'));
  await given.write('a', 'b');
  expect(readFileSync(dir.path('ws/a'), 'utf8')).toBe('b');
});

test('coder.P24 three processes over one workspace use no number twice and write readable records', async () => {
  await using dir = await tempDir({ 'ws/a': 'a\n' });
  const script = `
    const [folder, workspace, stateDir, name] = process.argv.slice(1);
    const { openJail } = await import(folder + '/host/jail/jail.js');
    const { JailChanges } = await import(folder + '/host/changes/jail-changes.js');
    const { Journal } = await import(folder + '/host/journal/journal.js');
    const limits = { maxBytes: 2 ** 30, maxRecords: 150, maxAgeMs: 1e12, maxImageBytes: 2 ** 30 };
    const journal = new Journal(workspace, { stateDir, limits });
    const changes = new JailChanges(openJail(workspace), { isSynced: false, journalOf: () => journal });
    const caller = { throwIfAborted() {} };
    for (let i = 0; i < 300; i++) {
      const path = name + i % 7;
      await changes.onTarget(path, { ...caller, call: { callId: name + i } }, (target) => changes.write(target, Buffer.from(String(i))));
      if (i % 20 === 0) await journal.evict();
    }`;
  const start = (name: string) =>
    exec(process.execPath, ['--input-type=module', '-e', script, DIST, dir.path('ws'), dir.path('state'), name]);
  await Promise.all(['p', 'q', 'r'].map(start));

  using given = open(dir.path('ws'), dir.path('state'));
  const records = [...given.journal.records().values()].sort((a, b) => a.seq - b.seq);
  // A number that two processes wanted at once may be left out.
  expect(given.journal.next).toBeGreaterThanOrEqual(901);
  expect(records.length).toBeGreaterThan(100);
  // No record is missing up to the newest of each process, whichever process shortened the log.
  for (const name of ['p', 'q', 'r']) {
    const calls = records.map(({ callId }) => callId!).filter((callId) => callId.startsWith(name));
    expect(calls).toEqual(calls.map((_, at) => `${name}${300 - calls.length + at}`));
  }
  expect(await given.undo()).toBe('undone');
}, 120_000);
