import { execFileSync } from 'node:child_process';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { merge3 } from './merge3.ts';

test.each([
  ['changes of different lines', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nD\n'],
  ['the same change twice', 'a\nb\n', 'x\nb\n', 'x\nb\n', 'x\nb\n'],
  ['an insertion and a removal', 'a\nb\nc\nd\n', 'n\na\nb\nc\nd\n', 'a\nb\nc\n', 'n\na\nb\nc\n'],
  ['no newline at the end', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
  ['mixed line endings', 'a\r\nb\nc\n', 'A\r\nb\nc\n', 'a\r\nb\nC\n', 'A\r\nb\nC\n'],
  ['the same line', 'a\nb\n', 'x\nb\n', 'y\nb\n', undefined],
  ['adjacent lines', 'a\nb\nc\n', 'X\nb\nc\n', 'a\nY\nc\n', undefined],
  ['insertions before the same line', 'a\nb\n', 'a\nx\nb\n', 'a\ny\nb\n', undefined],
])('%s', (_, base, mine, theirs, merged) => {
  expect(merge3(base, mine, theirs)).toBe(merged);
  expect(merge3(base, theirs, mine)).toBe(merged);
});

test('a merge with an unchanged side returns the other side', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n')).map((lines) => lines.join(''));
  fc.assert(
    fc.property(text, text, (base, mine) => merge3(base, mine, base) === mine && merge3(base, base, mine) === mine),
  );
});

test('every merge equals the one of git merge-file', async () => {
  await using dir = await tempDir();
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 8 });
  const toText = (given: string[]) => given.map((line, at) => `${line}${at}\n`).join('');
  const edit = fc.record({
    at: fc.nat(8),
    count: fc.nat(2),
    put: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
  });
  const edited = (base: string[], { at, count, put }: { at: number; count: number; put: string[] }) =>
    toText(base)
      .split(/(?<=\n)/)
      .toSpliced(at, count, ...put.map((line) => `${line}\n`))
      .join('');
  fc.assert(
    fc.property(lines, edit, edit, (base, one, two) => {
      const [mine, theirs] = [edited(base, one), edited(base, two)];
      const merged = merge3(toText(base), mine, theirs);
      if (merged === undefined) return;
      dir.add({ mine, base: toText(base), theirs });
      const args = ['merge-file', '-p', dir.path('mine'), dir.path('base'), dir.path('theirs')];
      expect(execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString()).toBe(merged);
    }),
    { numRuns: 100 },
  );
});
