/** Contract tests of `grep` and `sed` for every `FileSystem`. */
import { expect, test } from 'vitest';

import { reasonOf, scope, type Given, type Within } from './file-system-given.contract.ts';
import type { Below, GrepRequest, SedRequest } from './file-system.ts';

const everything: Below = { recursive: true, includeGlobs: [], excludeGlobs: [] };

export function describeGrep(within: Within): void {
  const request = { pattern: 'x', ignoreCase: false, maxMatches: 100, maxLineBytes: 100, ...everything };
  const grep = (given: Given, path: string, more: Partial<GrepRequest> = {}) =>
    given.files.grep({ ...request, path: given.at(path), ...more }, scope);

  test(
    'matching lines are returned by path and number, from a tree or a file',
    within({ 'b.txt': 'x\r\ny\nx', 'a/c.txt': 'x', bin: 'x\0' }, async (given) => {
      const inFile = [
        { path: given.at('b.txt'), line: 1, text: 'x' },
        { path: given.at('b.txt'), line: 3, text: 'x' },
      ];
      const none = { isTruncated: false, skipped: [], filesTooLarge: 0 };
      expect(await grep(given, '')).toEqual({
        matches: [{ path: given.at('a/c.txt'), line: 1, text: 'x' }, ...inFile],
        ...none,
      });
      expect(await grep(given, 'b.txt', { recursive: false })).toEqual({ matches: inFile, ...none });
    }),
  );

  test(
    'isTruncated is true only if there were more matches',
    within({ f: 'x\n'.repeat(3) }, async (given) => {
      const counted = async (maxMatches: number) => {
        const { matches, isTruncated } = await grep(given, '', { maxMatches });
        return [matches.length, isTruncated];
      };
      expect([await counted(2), await counted(3)]).toEqual([
        [2, true],
        [3, false],
      ]);
    }),
  );

  test(
    'a long line is searched whole and shown cut between characters',
    within({ f: 'ééx' }, async (given) => {
      expect((await grep(given, '', { pattern: 'x$', maxLineBytes: 3 })).matches).toMatchObject([{ text: 'é…' }]);
    }),
  );

  test(
    'globs select files',
    within({ 'keep.rs': 'x', 'skip.txt': 'x', 'target/a/b.rs': 'x' }, async (given) => {
      for (const glob of ['**/target/**', 'target', 'a/']) {
        const globs = { includeGlobs: ['*.rs'], excludeGlobs: [glob] };
        expect((await grep(given, '', globs)).matches).toMatchObject([{ path: given.at('keep.rs') }]);
      }
    }),
  );

  test(
    'reports a missing path first, then a bad pattern, then a directory without recursive',
    within({}, async (given) => {
      expect(await reasonOf(grep(given, 'gone', { pattern: '(' }))).toBe('missing');
      expect(await reasonOf(grep(given, '', { pattern: '(', recursive: false }))).toBe('RegexError');
      expect(await reasonOf(grep(given, '', { recursive: false }))).toBe('bad-request');
    }),
  );
}

export function describeSed(within: Within): void {
  const request = { pattern: 'x', replacement: 'y', isRegex: true, firstOnly: false, ignoreCase: false };
  const sed = (given: Given, where: SedRequest['where'], more: Partial<SedRequest> = {}) =>
    given.files.sed({ ...request, where, ...more }, scope);

  test(
    'matches are replaced line by line, and everything else stays',
    within({ f: 'x x\r\nx\nz' }, async (given) => {
      const files = [given.at('f')];
      expect(await sed(given, { files }, { firstOnly: true })).toEqual([{ path: files[0], replacements: 2 }]);
      expect(await given.read('f')).toBe('y x\r\ny\nz');
      await sed(given, { files }, { pattern: '(z)$', replacement: '$1${1}$$' });
      expect(await given.read('f')).toBe('y x\r\ny\nzz$');
    }),
  );

  test(
    'a folder excluded by its name is not rewritten',
    within({ 'own.js': 'x', 'node_modules/a/b.js': 'x' }, async (given) => {
      const where = { ...everything, path: given.at(''), excludeGlobs: ['node_modules'] };
      expect(await sed(given, where)).toEqual([{ path: given.at('own.js'), replacements: 1 }]);
      expect(await given.read('node_modules/a/b.js')).toBe('x');
    }),
  );

  test(
    'a literal pattern and replacement are not interpreted',
    within({ f: 'a.C' }, async (given) => {
      const literal = { isRegex: false, ignoreCase: true, pattern: '.c', replacement: '$1' };
      await sed(given, { files: [given.at('f')] }, literal);
      expect(await given.read('f')).toBe('a$1');
    }),
  );

  test(
    'leaves files without a match, continues after a failure, and keeps symlinks',
    within({ f: 'none', g: 'x' }, async (given) => {
      await given.link('g', 'link');
      const results = await sed(given, { files: ['f', 'gone', 'link'].map((path) => given.at(path)) });
      expect(results).toEqual([
        { path: given.at('f'), replacements: 0 },
        { path: given.at('gone'), replacements: 0, problem: expect.any(String) },
        { path: given.at('link'), replacements: 1 },
      ]);
      expect((await given.files.stat(given.at('link'), scope)).kind).toBe('symlink');
      expect(await given.read('g')).toBe('y');
    }),
  );

  test(
    'the files below a directory are those the globs choose',
    within({ 'd/a.rs': 'x', 'd/sub/b.rs': 'x', 'd/c.txt': 'x' }, async (given) => {
      const below = { path: given.at('d'), ...everything, includeGlobs: ['*.rs'] };
      expect(await sed(given, below)).toEqual([
        { path: given.at('d/a.rs'), replacements: 1 },
        { path: given.at('d/sub/b.rs'), replacements: 1 },
      ]);
      expect(await given.read('d/c.txt')).toBe('x');
      expect(await reasonOf(sed(given, { ...below, recursive: false }))).toBe('bad-request');
      expect(await reasonOf(sed(given, { ...below, path: given.at('gone') }))).toBe('missing');
    }),
  );

  test(
    'a bad pattern, an empty literal and a reference to no group change nothing',
    within({ f: 'x' }, async (given) => {
      const where = { files: [given.at('f')] };
      expect(await reasonOf(sed(given, where, { pattern: '(' }))).toBe('RegexError');
      expect(await reasonOf(sed(given, where, { pattern: '', isRegex: false }))).toBe('bad-request');
      expect(await reasonOf(sed(given, where, { replacement: '$1' }))).toBe('ReplacementError');
      expect(await given.read('f')).toBe('x');
    }),
  );
}
