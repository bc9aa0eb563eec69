import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toText, type ByteString } from './byte-string.ts';
import { realPath } from './pin-by-path.ts';
import { joinPath, walkDirsBelow } from './walk-dir.ts';
import { walk, type WalkStep } from './walk.ts';

const bytes = (text: string) => text as ByteString;

describe.each(['descriptor', 'portable'] as const)('%s walk', (mode) => {
  const open = (root: string, path = '') => walkDirsBelow(realPath(root), mode)(bytes(path));
  const files = (steps: Iterable<WalkStep>) =>
    [...steps].flatMap((step) =>
      step.kind === 'files' ? step.names.map((name) => toText(joinPath(step.dir.path, name))) : [],
    );

  test('gives every regular file in the order of the bytes of the paths', async () => {
    const names = ['a/x', 'a-b', 'a.b/c', 'a0', '.h/i', 'é', '～', '😀', 'b/a/c', 'b/a-', 'b/a'.concat('0'), 'Z'];
    await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, ''])));
    dir.add({ link: { symlink: 'a' }, pipe: { fifo: true }, 'empty/': '', dangling: { symlink: 'nope' } });
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(files(walk(open(dir.root)))).toEqual(sorted);
    expect(files(walk(open(dir.root, 'b')))).toEqual(['b/a-', 'b/a/c', 'b/a0']);
  });

  test('sorts a huge directory the same way, with pauses', async () => {
    await using dir = await tempDir();
    const names = Array.from({ length: 5000 }, (_, i) => `f${(i * 7919) % 5000}`);
    for (const name of names) writeFileSync(dir.path(name), '');
    for (const name of ['f1', 'f20', 'f300']) {
      rmSync(dir.path(name));
      mkdirSync(dir.path(name));
      writeFileSync(dir.path(`${name}/in`), '');
    }
    const expected = names.map((name) => (['f1', 'f20', 'f300'].includes(name) ? `${name}/in` : name)).sort();
    const steps = [...walk(open(dir.root))].map((step) => ({ ...step }));
    expect(files(steps)).toEqual(expected);
    expect(steps.filter(({ kind }) => kind === 'pause').length).toBeGreaterThan(0);
  });

  test('does not follow a directory that became a link after it was listed', async () => {
    await using dir = await tempDir({ 'ws/a': '', 'ws/b/c': '', 'out/SECRET': '' });
    const steps = walk(open(dir.path('ws')));
    expect(steps.next().value).toMatchObject({ kind: 'files', names: ['a'] });
    rmSync(dir.path('ws/b'), { recursive: true });
    dir.add({ 'ws/b': { symlink: '../out' } });
    expect([...steps]).toEqual([]);
  });

  test('reads the directory that it holds, whatever its name leads to by now', async () => {
    await using dir = await tempDir({ 'ws/b/c': 'inside', 'out/c': 'SECRET' });
    const held = open(dir.path('ws'), 'b');
    renameSync(dir.path('ws/b'), dir.path('ws/moved'));
    dir.add({ 'ws/b': { symlink: '../out' } });
    if (mode === 'descriptor') expect(files(walk(held))).toEqual(['b/c']);
    else expect([...walk(held)]).toEqual([{ kind: 'skipped', path: 'b', reason: 'io' }]);
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

test('closes what it holds when it is left early', async () => {
  await using dir = await tempDir({ 'a/b/c/d': '', 'a/b/c/e/f': '' });
  const openCount = () => readdirSync('/proc/self/fd').length;
  const before = openCount();
  const steps = walk(walkDirsBelow(realPath(dir.root), 'descriptor')(bytes('')));
  steps.next();
  expect(openCount()).toBe(before + 4);
  steps.return(undefined);
  expect(openCount()).toBe(before);
});

test('what lies too deep is told and left out', async () => {
  await using dir = await tempDir({ [`${'d/'.repeat(600)}f`]: '', g: '' });
  const steps = [...walk(walkDirsBelow(realPath(dir.root), 'descriptor')(bytes('')))];
  expect(steps).toMatchObject([
    { kind: 'skipped', reason: 'too-deep', path: 'd/'.repeat(512).slice(0, -1) },
    { names: ['g'] },
  ]);
});
