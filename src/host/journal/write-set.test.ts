import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';

import { expect, test } from 'vitest';

import { shippedCell } from '#contract';
import { tempDir } from '#testing';
import { JailChanges } from '../changes/jail-changes.ts';
import { versionOf } from '../changes/jail-version.ts';
import { openJail } from '../jail/jail.ts';
import { takeBack, type Step } from './set-steps.ts';
import { shareJournal } from './shared-journal.ts';
import { NOTHING_THERE, SetConflict, type SetEntry } from './set-entry.ts';

type TempDir = Awaited<ReturnType<typeof tempDir>>;

const { signal } = new AbortController();
const bytes = (text: string) => Buffer.from(text);

function setUp(dir: TempDir, journal = shippedCell.journal) {
  const shared = shareJournal(dir.path('ws'), { state_dir: dir.path('state'), journal })!;
  const jail = openJail(dir.path('ws'), { isProtected: (path) => path.endsWith('.env') });
  const changes = new JailChanges(jail, { isSynced: true, journalOf: () => shared.journal });
  return { changes, journal: shared.journal, [Symbol.dispose]: shared.release };
}

/** Every path with its content, symlink target, or `/` for a directory. */
function treeOf(dir: TempDir): Record<string, string> {
  const paths = readdirSync(dir.path('ws'), { recursive: true }).map(String).sort();
  return Object.fromEntries(paths.map((path) => [path, contentOf(dir.path(`ws/${path}`))]));
}

function contentOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isDirectory()) return '/';
  return stat.isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8');
}

const FILES = { 'ws/a': 'a\n', 'ws/b': 'b\n', 'ws/d/c': 'c\n', 'ws/link': { symlink: 'a' } } as const;
const BEFORE = { a: 'a\n', b: 'b\n', d: '/', 'd/c': 'c\n', link: '-> a' };

const ALL: SetEntry[] = [
  { kind: 'write', path: 'a', content: bytes('A\n'), expected: versionOf(bytes('a\n')) },
  { kind: 'write', path: 'new/deep/n', content: bytes('n\n'), expected: NOTHING_THERE, mode: 0o600 },
  { kind: 'delete', path: 'd' },
  { kind: 'move', path: 'b', to: 'moved/b' },
  { kind: 'move', path: 'link', to: 'link2' },
];

test('a set writes, deletes, renames and creates directories in one record', async () => {
  await using dir = await tempDir(FILES);
  using given = setUp(dir);
  const outcome = await given.changes.writeSet(ALL, { signal });
  expect(treeOf(dir)).toEqual({
    a: 'A\n',
    link2: '-> a',
    moved: '/',
    'moved/b': 'b\n',
    new: '/',
    'new/deep': '/',
    'new/deep/n': 'n\n',
  });
  expect(lstatSync(dir.path('ws/new/deep/n')).mode & 0o777).toBe(0o600);
  expect(outcome.changes.map(({ path, kind }) => `${kind} ${path}`).sort()).toEqual([
    'created moved',
    'created new',
    'created new/deep',
    'created new/deep/n',
    'deleted d',
    'modified a',
    'moved link2',
    'moved moved/b',
  ]);
  expect([...given.journal.records().keys()]).toEqual([outcome.seq]);
  expect(readdirSync(given.journal.store.preparedDir)).toEqual([]);
});

test.each<[string, SetEntry]>([
  ['another version', { kind: 'write', path: 'd/c', content: bytes('x'), expected: versionOf(bytes('no')) }],
  ['a file where none is expected', { kind: 'write', path: 'b', content: bytes('x'), expected: NOTHING_THERE }],
  ['a missing file', { kind: 'delete', path: 'gone' }],
  ['a protected file', { kind: 'write', path: 'x.env', content: bytes('x') }],
  ['a path outside the root', { kind: 'write', path: '../out', content: bytes('x') }],
  ['a write to a directory', { kind: 'write', path: 'd', content: bytes('x') }],
  ['a rename to a directory', { kind: 'move', path: 'a', to: 'd' }],
  ['a file as a parent directory', { kind: 'write', path: 'a/below', content: bytes('x') }],
])('coder.P22 %s fails the set and changes nothing', async (_, bad) => {
  await using dir = await tempDir(FILES);
  using given = setUp(dir);
  const entries: SetEntry[] = [
    { kind: 'write', path: 'new/n', content: bytes('n') },
    { kind: 'write', path: 'b', content: bytes('B') },
    bad,
  ];
  await expect(given.changes.writeSet(entries, { signal })).rejects.toThrow();
  expect(treeOf(dir)).toEqual(BEFORE);
  expect([...given.journal.records().keys()]).toEqual([]);
  expect(readdirSync(given.journal.store.preparedDir)).toEqual([]);
});

test('a conflict reports both versions', async () => {
  await using dir = await tempDir(FILES);
  using given = setUp(dir);
  const set = given.changes.writeSet([{ kind: 'delete', path: 'a', expected: 'sha256:0' }], { signal });
  const conflict = await set.catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(SetConflict);
  expect(conflict).toMatchObject({ path: 'a', expected: 'sha256:0', actual: versionOf(bytes('a\n')) });
});

test('a file that is renamed and changed keeps its mode', async () => {
  await using dir = await tempDir({ 'ws/run': { content: 'old', mode: 0o755 } });
  using given = setUp(dir);
  await given.changes.writeSet([{ kind: 'move', path: 'run', to: 'bin/run', content: bytes('new') }], { signal });
  expect(treeOf(dir)).toEqual({ bin: '/', 'bin/run': 'new' });
  expect(lstatSync(dir.path('ws/bin/run')).mode & 0o777).toBe(0o755);
});

test('with the journal switched off a set still works and leaves no images', async () => {
  await using dir = await tempDir(FILES);
  using given = setUp(dir, { ...shippedCell.journal, max_records: 0 });
  const outcome = await given.changes.writeSet(ALL.slice(0, 2), { signal });
  expect(outcome.seq).toBeUndefined();
  expect(readdirSync(given.journal.store.pathOf('images', 'x').slice(0, -2))).toEqual([]);
});

test('a roll-back reports what another program changed, and leaves it', async () => {
  await using dir = await tempDir({ ...FILES, 'ws/new': 'theirs\n' });
  using given = setUp(dir);
  const { size, mtimeMs, mode, uid, gid } = lstatSync(dir.path('ws/a'));
  const file = { kind: 'file', size, mtimeMs, mode, uid, gid } as const;
  const step = { kind: 'put', after: file, ino: 0 } as const;
  const steps: Step[] = [
    { ...step, path: 'a', at: 'a', before: file },
    { ...step, path: 'b', at: 'b', before: { ...file, size: 9 } },
    { ...step, path: 'new', at: 'new', before: { kind: 'absent' } },
  ];
  const { left } = await takeBack(openJail(dir.path('ws')), given.journal.store, steps);
  expect(left.toSorted()).toEqual(['b', 'new']);
  expect(treeOf(dir)).toEqual({ ...BEFORE, new: 'theirs\n' });
});

test('a store that another program removed is made again with the next change', async () => {
  await using dir = await tempDir(FILES);
  using given = setUp(dir);
  const write = (path: string) =>
    given.changes.onTarget(path, signal, (target) => given.changes.write(target, bytes('new\n')));
  await write('a');
  for (const path of ['b', 'created']) {
    rmSync(dir.path('state'), { recursive: true });
    await write(path);
    expect([...given.journal.records().values()].map(({ changes }) => changes[0]!.path)).toEqual([path]);
  }
});
