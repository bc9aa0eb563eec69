import { mkdirSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { visitBelow, type NextStep } from './jail-list.ts';
import { openJail } from './jail.ts';

describe.each(['descriptor', 'portable'] as const)('a walk in a %s jail', (mode) => {
  const walk = async (
    root: string,
    decide: (path: string) => NextStep = () => 'go-on',
    signal = new AbortController().signal,
  ) => {
    const visited: string[] = [];
    using dir = openJail(root, { mode }).openDir('.');
    await visitBelow(dir, { signal }, (parent, { name, kind }) => {
      const path = parent.pathOf(name);
      visited.push(`${path} ${kind}`);
      return decide(path);
    });
    return visited;
  };

  test('lists every entry with its kind, a directory right before its content', async () => {
    await using dir = await tempDir({
      'a/b/c': '',
      'a-b': '',
      z: { symlink: 'a' },
      pipe: { fifo: true },
      'empty/': '',
    });
    expect(await walk(dir.root)).toEqual([
      ...['a directory', 'a/b directory', 'a/b/c file', 'a-b file', 'empty directory', 'pipe other', 'z symlink'],
    ]);
  });

  test('skips the content of a directory on pass and ends on stop', async () => {
    await using dir = await tempDir({ 'a/x': '', 'b/x': '', 'c/x': '' });
    const decide = (path: string): NextStep => (path === 'a' ? 'pass' : path === 'b/x' ? 'stop' : 'go-on');
    expect(await walk(dir.root, decide)).toEqual(['a directory', 'b directory', 'b/x file']);
  });

  test('lists many entries in order, also names that are not UTF-8', async () => {
    await using dir = await tempDir({ 'many/': '' });
    const names = Array.from({ length: 5000 }, (_, i) => `n${(i * 2731) % 5000}`);
    for (const name of names) writeFileSync(dir.path(`many/${name}`), '');
    writeFileSync(Buffer.from(`${dir.root}/\xff`, 'latin1'), '');
    mkdirSync(Buffer.from(`${dir.root}/\xfe`, 'latin1'));
    const visited = await walk(dir.root);
    expect(visited.slice(1, -2)).toEqual(names.toSorted().map((name) => `many/${name} file`));
    expect(visited.slice(-2)).toEqual(['\uFFFD directory', '\uFFFD file']);
  });

  test('ends when the caller aborts', async () => {
    await using dir = await tempDir(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, ''])));
    const caller = new AbortController();
    const decide = (): NextStep => {
      caller.abort(new Error('cancelled'));
      // Longer than a turn, so that the walk lets others run.
      const until = performance.now() + 0.2;
      while (performance.now() < until);
      return 'go-on';
    };
    await expect(walk(dir.root, decide, caller.signal)).rejects.toThrow('cancelled');
  });
});
