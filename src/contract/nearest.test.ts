import fc from 'fast-check';
import { expect, test } from 'vitest';

import { didYouMean, nearestName } from './nearest.ts';

const known = ['coder::read-file', 'coder::list-folder', 'shell::exec', 'ls', 'rm'];

test.each([
  ['coder::read-flie', 'coder::read-file'],
  ['CODER::READ-FILE', 'coder::read-file'],
  ['coder::read_file', 'coder::read-file'],
  ['coder::list-folders', 'coder::list-folder'],
  ['shel::exec', 'shell::exec'],
  ['sl', 'ls'],
  ['ls', 'ls'],
  ['mv', undefined],
  ['sandbox::create', undefined],
  ['', undefined],
])('for %j it suggests %j', (given, meant) => {
  expect(nearestName(given, known)).toBe(meant);
});

test('suggests the first of two equally near names, and nothing without known names', () => {
  expect(nearestName('ab', ['ac', 'ad'])).toBe('ac');
  expect(nearestName('ab', [])).toBeUndefined();
  expect([didYouMean('shel::exec', known), didYouMean('?', known)]).toEqual([' (did you mean "shell::exec"?)', '']);
});

test('one slip in a name of six or more is forgiven', () => {
  const name = fc.stringMatching(/^[a-z:-]{6,40}$/);
  fc.assert(
    fc.property(name, fc.nat(), fc.constantFrom('drop', 'double', 'swap'), (text, at, slip) => {
      const i = at % (text.length - 1);
      const [a, b, rest] = [text[i]!, text[i + 1]!, text.slice(i + 2)];
      const slipped = text.slice(0, i) + { drop: b, double: a + a + b, swap: b + a }[slip] + rest;
      expect(nearestName(slipped, [text])).toBe(text);
    }),
  );
});

test('names over 100 characters are not compared: the cost is the product of their lengths', () => {
  const long = 'x'.repeat(101);
  expect(nearestName(long, [long])).toBeUndefined();
  expect(nearestName('x'.repeat(100), [long, 'x'.repeat(99)])).toBe('x'.repeat(99));
});
