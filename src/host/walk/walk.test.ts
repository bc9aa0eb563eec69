import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { afterEach, describe, expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import { realPath } from '../jail/pin-by-path.ts';
import { systemCalls } from '../system/system-calls.ts';
import { calledDirsBelow } from './walk-dir-by-syscalls.ts';
import { enteredDirsBelow, leaveEnteredDir } from './walk-dir-by-chdir.ts';
import { joinPath, walkDirsBelow, type OpenWalkDir } from './walk-dir.ts';
import { splitParts, type WalkPart } from './walk-part.ts';
import { Walk, type WalkStep } from './walk.ts';

const bytes = (text: string) => text as ByteString;

function stepsOf(walk: Walk): WalkStep[] {
  const steps: WalkStep[] = [];
  for (let step = walk.next(); step; step = walk.next()) steps.push(step);
  return steps;
}

const files = (steps: WalkStep[]) =>
  steps.flatMap((step) =>
    step.kind === 'files' ? step.names.map((name) => toText(joinPath(step.dir.path, name))) : [],
  );

const WAYS: Record<string, (root: ByteString) => OpenWalkDir> = {
  descriptor: (root) => walkDirsBelow(root, 'descriptor'),
  entered: (root) => enteredDirsBelow(root, 'descriptor'),
  called: (root) =>
    calledDirsBelow({ root, mode: 'descriptor', opening: 'at-once' }, walkDirsBelow(root, 'descriptor')),
  portable: (root) => walkDirsBelow(root, 'portable'),
};
const ways = Object.keys(WAYS).filter((way) => way !== 'called' || systemCalls());

const home = process.cwd();

function leaveEntered(): void {
  leaveEnteredDir();
  process.chdir(home);
}

describe.each(ways)('%s walk', (way) => {
  const { [way]: dirsBelow } = WAYS;
  const open = (root: string, path = '') => dirsBelow!(realPath(root))(bytes(path));
  const walk = (root: string, path = '', parts: WalkPart[] = [{ dir: bytes(path) }]) =>
    new Walk(dirsBelow!(realPath(root)), parts, { start: bytes(path) });

  afterEach(leaveEntered);

  test('gives every regular file in the order of the bytes of the paths', async () => {
    const names = ['a/x', 'a-b', 'a.b/c', 'a0', '.h/i', 'é', '～', '😀', 'b/a/c', 'b/a-', 'b/a'.concat('0'), 'Z'];
    await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, ''])));
    dir.add({ link: { symlink: 'a' }, pipe: { fifo: true }, 'empty/': '', dangling: { symlink: 'nope' } });
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(files(stepsOf(walk(dir.root)))).toEqual(sorted);
    expect(files(stepsOf(walk(dir.root, 'b')))).toEqual(['b/a-', 'b/a/c', 'b/a0']);
  });

  test('reports a directory that cannot be listed, and opens what is known to be in it', async () => {
    await using dir = await tempDir({ 'a/b': 'in a', c: '' });
    chmodSync(dir.path('a'), 0o100);
    const [, ...steps] = stepsOf(walk(dir.root));
    const isRoot = process.getuid!() === 0;
    const listed = isRoot ? ['a/b', 'c'] : ['c'];
    expect(files(steps)).toEqual(listed);
    expect(steps.filter(({ kind }) => kind === 'skipped')).toEqual(
      isRoot ? [] : [{ kind: 'skipped', path: 'a', reason: 'denied' }],
    );
    expect(files(stepsOf(walk(dir.root, '', [{ dir: bytes('a'), names: 'b' }])))).toEqual(['a/b']);
  });

  test('does not follow a directory that became a link after it was listed', async () => {
    await using dir = await tempDir({ 'ws/a': '', 'ws/b/c': '', 'out/SECRET': '' });
    const left = walk(dir.path('ws'));
    expect([left.next(), left.next()]).toMatchObject([{ kind: 'folder' }, { kind: 'files', names: ['a'] }]);
    rmSync(dir.path('ws/b'), { recursive: true });
    dir.add({ 'ws/b': { symlink: '../out' } });
    const parts = left.leave();
    expect(parts).toEqual([{ dir: '', names: 'b/' }]);
    expect(stepsOf(walk(dir.path('ws'), '', parts))).toEqual([]);
    expect(stepsOf(walk(dir.path('ws'), 'b'))).toEqual([]);
  });

  test('reads the directory that it holds, whatever its name refers to by now', async () => {
    await using dir = await tempDir({ 'ws/b/c/d': 'inside', 'out/c/SECRET': '' });
    const started = walk(dir.path('ws'), 'b');
    expect(started.next()).toEqual({ kind: 'folder' });
    renameSync(dir.path('ws/b'), dir.path('ws/moved'));
    dir.add({ 'ws/b': { symlink: '../out' } });
    if (way !== 'portable') expect(files(stepsOf(started))).toEqual(['b/c/d']);
    else expect(stepsOf(started)).toEqual([{ kind: 'skipped', path: 'b/c', reason: 'io' }]);
  });

  test('a directory that is removed while it is listed is not reported', async () => {
    await using dir = await tempDir({ 'b/f': '' });
    const opened = dirsBelow!(realPath(dir.root));
    const removing: OpenWalkDir = (path) => {
      const walkDir = opened(path);
      rmSync(dir.path('b'), { recursive: true });
      return walkDir;
    };
    const steps = stepsOf(new Walk(removing, [{ dir: bytes('b') }], { start: bytes('b') }));
    expect(steps.filter(({ kind }) => kind !== 'folder')).toEqual([]);
  });

  test('left at any step and taken up again, it gives the same', async () => {
    const names = ['a/b/c', 'a/b/d', 'a/b.x', 'a/e/f/g', 'a/e/h', 'a0', 'b', 'c/d', 'é/ü'];
    await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, ''])));
    const whole = files(stepsOf(walk(dir.root)));
    for (const work of [1, 2, 13, 100]) {
      let waiting: WalkPart[] = [{ dir: bytes('') }];
      const found: string[] = [];
      while (waiting.length > 0) {
        const [head, others] = splitParts(waiting, work);
        const some = walk(dir.root, '', head);
        const step = some.next();
        if (step?.kind === 'files' && step.names.length > 1) some.putBack(step.names.length - 1);
        if (step?.kind === 'files') found.push(toText(joinPath(step.dir.path, step.names[0]!)));
        waiting = [...some.leave(), ...others];
      }
      expect(found).toEqual(whole);
    }
  });

  test.each([
    ['a link', 'link'],
    ['a path through a link', 'link/c'],
    ['a file', 'f'],
    ['nothing', 'nope'],
  ])('does not open %s as a directory', async (_, path) => {
    await using dir = await tempDir({ 'a/c/d': '', link: { symlink: 'a' }, f: '' });
    expect(() => open(dir.root, path)).toThrow();
  });
});

test('a huge directory is sorted the same way, with pauses for callers that may not block', async () => {
  await using dir = await tempDir();
  const names = Array.from({ length: 5000 }, (_, i) => `f${(i * 7919) % 5000}`);
  for (const name of names) writeFileSync(dir.path(name), '');
  for (const name of ['f1', 'f20', 'f300']) {
    rmSync(dir.path(name));
    mkdirSync(dir.path(name));
    writeFileSync(dir.path(`${name}/in`), '');
  }
  const expected = names.map((name) => (['f1', 'f20', 'f300'].includes(name) ? `${name}/in` : name)).sort();
  for (const way of ways) {
    const openDir = WAYS[way]!(realPath(dir.root));
    for (const mayBlock of [false, true]) {
      const steps = stepsOf(new Walk(openDir, [{ dir: bytes('') }], { start: bytes(''), mayBlock }));
      const hasPauses = steps.some(({ kind }) => kind === 'pause');
      expect({ way, mayBlock, hasPauses, files: files(steps) }).toEqual({
        way,
        mayBlock,
        hasPauses: !mayBlock,
        files: expected,
      });
    }
    leaveEntered();
  }
}, 60_000);

test.skipIf(!systemCalls())('system calls open what they can, and the ordinary way the rest', async () => {
  await using dir = await tempDir({ 'a/é/f': 'in é' });
  const root = realPath(dir.root);
  const odd = bytes('a/not \xff text');
  mkdirSync(Buffer.from(`${root}/${odd}`, 'latin1'));
  const rest: string[] = [];
  const openDir = calledDirsBelow({ root, mode: 'descriptor', opening: 'at-once' }, (path) => {
    rest.push(path);
    return walkDirsBelow(root, 'descriptor')(path);
  });
  for (const path of ['', 'a', toBytes('a/é'), odd]) openDir(bytes(path)).close();
  expect(() => openDir(bytes('a/nope'))).toThrow('ENOENT');
  expect(rest).toEqual([odd, 'a/nope']);
});

test('closes what it holds when it is left early', async () => {
  await using dir = await tempDir({ 'a/b/c/d': '', 'a/b/c/e/f': '' });
  const openCount = () => readdirSync('/proc/self/fd').length;
  const before = openCount();
  const walk = new Walk(walkDirsBelow(realPath(dir.root), 'descriptor'), [{ dir: bytes('') }], { start: bytes('') });
  while (walk.next()?.kind !== 'files');
  expect(openCount()).toBe(before + 4);
  walk.leave();
  expect(openCount()).toBe(before);
});

test.each([
  ['by its levels', 'd/', 600, 512],
  ['by its path', `${'d'.repeat(199)}/`, 18, 16],
])('what is too deep %s is reported and skipped, also after a resume', async (_, name, count, limit) => {
  await using dir = await tempDir({ [`${name.repeat(3)}f`]: '', g: '' });
  const path = makeDeep(dir.path(name.repeat(3)), name, count - 3);
  try {
    let parts: WalkPart[] = [{ dir: bytes('') }];
    const others: WalkStep[] = [];
    while (parts.length > 0) {
      const walk = new Walk(walkDirsBelow(realPath(dir.root), 'descriptor'), parts, { start: bytes('') });
      const step = walk.next();
      if (step && step.kind !== 'folder') others.push(step);
      parts = walk.leave();
    }
    expect(others).toMatchObject([
      { kind: 'skipped', reason: 'too-deep', path: name.repeat(limit).slice(0, -1) },
      { names: ['f'] },
      { names: ['g'] },
    ]);
  } finally {
    rmSync(path, { recursive: true });
  }
});

/** Makes directories that are too deep to be made by their path. */
function makeDeep(from: string, name: string, count: number): string {
  execFileSync(process.execPath, ['-e', DIVE, from, name.slice(0, -1), String(count)]);
  return from;
}

const DIVE = `
const [from, name, count] = process.argv.slice(1);
process.chdir(from);
for (let i = 0; i < Number(count); i++) { require('node:fs').mkdirSync(name); process.chdir(name); }`;
