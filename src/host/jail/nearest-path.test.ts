/** Suggestions for a path that does not exist. */
import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { compileGlobs } from '../globs/globs.ts';
import { HostError } from '../host-error.ts';
import { openAbsoluteJail, openJail } from './jail.ts';
import { pathHint } from './nearest-path.ts';

const TREE = {
  'src/parser.ts': '',
  'src/deep/lexer.ts': '',
  'README.md': '',
  'secrets/token.txt': '',
  'node_modules/x/unique.ts': '',
};

test.each([
  ['src/parsr.ts', 'src/parser.ts'],
  ['scr/parser.ts', 'src/parser.ts'],
  ['readme.md', 'README.md'],
  ['lexer.ts', 'src/deep/lexer.ts'],
  ['lib/lexer.ts', 'src/deep/lexer.ts'],
  ['scr/none.ts', 'src'],
  ['unique.ts', undefined],
  ['secrets/tokn.txt', undefined],
  ['token.txt', undefined],
  ['quite/another/thing.py', undefined],
])('%s', async (path, meant) => {
  await using dir = await tempDir(TREE);
  const jail = openJail(dir.root, { isProtected: compileGlobs(['**/secrets/**']) });
  const hint = pathHint(new HostError('missing', path), jail);
  expect(hint).toBe(meant === undefined ? '' : `; did you mean ${meant}?`);
});

test('suggests the relative path for an absolute one inside, and none for one outside', async () => {
  await using dir = await tempDir(TREE);
  const jail = openJail(dir.root);
  expect(pathHint(new HostError('absolute', dir.path('src/parser.ts')), jail)).toBe('; did you mean src/parser.ts?');
  expect(pathHint(new HostError('absolute', '/etc/passwd'), jail)).toBe('');
});

test('an absolute jail suggests absolute paths, and none outside it', async () => {
  await using dir = await tempDir({ 'in/a.txt': '', 'out/b.txt': '' });
  const jail = openAbsoluteJail([dir.path('in')]);
  expect(pathHint(new HostError('missing', dir.path('in/b.txt')), jail)).toBe(
    `; did you mean ${dir.path('in/a.txt')}?`,
  );
  expect(pathHint(new HostError('missing', dir.path('out/c.txt')), jail)).toBe('');
});
