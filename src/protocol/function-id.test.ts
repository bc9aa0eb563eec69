import fc from 'fast-check';
import { expect, test } from 'vitest';

import { fromUrlPath, toToolName, toUrlPath, workerSegment } from './function-id.ts';

test.each([
  ['coder::read-file', 'coder_read_file', 'coder/read-file', 'coder'],
  ['shell::fs::ls', 'shell_fs_ls', 'shell/fs/ls', 'shell'],
  ['plain', 'plain', 'plain', 'plain'],
  ['a::b c/d?é', 'a_b_c_d__', 'a/b%20c%2Fd%3F%C3%A9', 'a'],
])('%s on each surface', (id, tool, path, worker) => {
  expect([toToolName(id), toUrlPath(id), fromUrlPath(path), workerSegment(id)]).toEqual([tool, path, id, worker]);
});

const segment = fc
  .string({ unit: 'binary', minLength: 1 })
  .filter((text) => !text.includes(':') && /^\P{Surrogate}*$/u.test(text));

test('an id comes back from its path as it was', () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const id = segments.join('::');
      expect(fromUrlPath(toUrlPath(id))).toBe(id);
      expect(toUrlPath(id).split('/')).toHaveLength(segments.length);
    }),
  );
});

test('a tool name is short and of plain characters, whatever the id is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 600, size: 'max' }), (id) => {
      expect(toToolName(id)).toMatch(/^[A-Za-z0-9_]{1,64}$/);
    }),
  );
});

test.each(['', '/', 'a//b', 'a/', '/a', '%zz', 'a/%', '%ff'])('%j is the path of no id', (path) => {
  expect(fromUrlPath(path)).toBeUndefined();
});

test('an id with half a surrogate pair still has a path', () => {
  expect(toUrlPath('a::\u{d800}b')).toBe('a/%EF%BF%BDb');
});
