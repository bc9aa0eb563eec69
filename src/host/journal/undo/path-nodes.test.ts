import { expect, test } from 'vitest';

import { PathNodes } from './path-nodes.ts';

test('finds and takes what is below a path, and nothing beside it', () => {
  const nodes = new PathNodes<number>();
  for (const [at, path] of ['a/b/c', 'a/b/d/e', 'a/bc', 'a', 'x'].entries()) nodes.set(path, at);
  expect(new Set(nodes.namesIn('a'))).toEqual(new Set(['b', 'bc']));
  expect(new Set(nodes.namesIn('a/b'))).toEqual(new Set(['c', 'd']));
  expect([nodes.hasBelow('a/b'), nodes.hasBelow('a/bc'), nodes.hasBelow('x')]).toEqual([true, false, false]);

  expect(Object.fromEntries(nodes.takeBelow('a/b'))).toEqual({ 'a/b/c': 0, 'a/b/d/e': 1 });
  expect([nodes.get('a/b/c'), nodes.get('a/b/d/e'), nodes.get('a/bc'), nodes.get('a')]).toEqual([
    ...[undefined, undefined],
    ...[2, 3],
  ]);
  expect(nodes.hasBelow('a/b')).toBe(false);

  nodes.set('a/b/new', 5);
  expect([...nodes.namesIn('a/b')]).toEqual(['new']);
  expect(Object.fromEntries(nodes.takeBelow('a'))).toEqual({ 'a/b/new': 5, 'a/bc': 2 });
  expect(nodes.get('x')).toBe(4);
});
