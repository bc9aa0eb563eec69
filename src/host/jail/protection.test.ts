import { expect, test } from 'vitest';

import { ConfigError, shippedCell } from '#contract';
import { compileProtected, plainGlobs } from './protected-globs.ts';
import { protect } from './protection.ts';

const protectedBy = (globs: readonly string[], paths: readonly string[]) => paths.filter(compileProtected([{ globs }]));

test('the default list protects secrets at any depth and everything below, not their examples', () => {
  const secrets = ['.env', 'a/.env', '.env.local', 'a/b.pem', 'x.key', 'secrets/x', 'a/secrets/b/.env.example'];
  const below = ['.env/bin/x', 'x.key/y'];
  const ordinary = [
    '.env.example',
    'a/.env.sample',
    '.env.template',
    '.env.example/x',
    '.environment',
    'secrets',
    'env',
  ];
  expect(protectedBy(shippedCell.protect, [...secrets, ...below, ...ordinary])).toEqual([...secrets, ...below]);
});

test('the last matching glob decides', () => {
  expect(protectedBy(['a*', '!ab*', 'abc'], ['a', 'ab', 'abc', 'abd', 'b'])).toEqual(['a', 'abc']);
  expect(protectedBy(['!a'], ['a', 'b'])).toEqual([]);
  expect(protectedBy([], ['a'])).toEqual([]);
});

test('globs of a worker itself cannot unprotect a path', () => {
  const isProtected = compileProtected([{ globs: ['*.key'] }, plainGlobs(['!x.key', '!y'])]);
  expect(['x.key', '!x.key', '!y', 'y'].filter(isProtected)).toEqual(['x.key', '!x.key', '!y']);
});

test('a list applies from every directory that holds it, whatever the root of a query', () => {
  const globs = ['conf/*.ini', '!conf/open.ini'];
  const { protection, release } = protect(globs, '/w');
  const paths = ['/w/conf/a.ini', '/w/conf/open.ini', '/w/a.ini', '/conf/a.ini', '/w/sub/conf/b.ini', '/w2/conf/a.ini'];
  expect(paths.filter((path) => protection.covers(path))).toEqual(['/w/conf/a.ini']);

  const [wide, inner] = [protect(globs, '/'), protect(globs, '/w/sub')];
  expect(wide.protection).toBe(protection);
  const all = ['/w/conf/a.ini', '/conf/a.ini', '/w/sub/conf/b.ini'];
  expect(paths.filter((path) => protection.covers(path))).toEqual(all);
  for (const root of ['/', '/w', '/w/sub']) {
    const isProtected = compileProtected(protection.globsFrom(root));
    const prefix = root === '/' ? root : `${root}/`;
    const inRoot = paths.filter((path) => path.startsWith(prefix));
    expect(inRoot.filter((path) => isProtected(path.slice(prefix.length)))).toEqual(
      all.filter((path) => path.startsWith(prefix)),
    );
  }
  expect(protection.globsFrom('/w')).toBe(protection.globsFrom('/w'));

  wide.release();
  inner.release();
  expect(paths.filter((path) => protection.covers(path))).toEqual(['/w/conf/a.ini']);
  release();
  expect(protect(globs, '/w').protection).not.toBe(protection);
});

test('a malformed glob is refused with its key', () => {
  expect(() => protect(['ok', '{a'], '/w')).toThrow(new ConfigError('protect: bad glob "{a": a { is never closed'));
});
