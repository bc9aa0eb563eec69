import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { Signatures } from './index-signatures.ts';
import { TextMemory, TEXT_START } from '../match/text-memory.ts';

const memory = new TextMemory();

function put(text: Buffer) {
  memory.reserve(TEXT_START + text.length);
  memory.buffer.set(text, TEXT_START);
  return { start: TEXT_START, end: TEXT_START + text.length };
}

function marked(signatures: Signatures, ...needles: string[]): number[] {
  const sets = needles.map((needle) => [Buffer.from(needle)]);
  const marks = signatures.mark(sets, 1000);
  return [...marks.keys()].filter((slot) => marks[slot] === 1);
}

test('every text that holds a needle is marked, in whichever chunk or across two it lies, in any case', () => {
  const signatures = new Signatures(100 * Signatures.MIN_BYTES);
  let slot = 0;
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(100_000), (before, after) => {
      const text = Buffer.from(`${'hay '.repeat(before / 4)}the Needle 123${' hay'.repeat(after / 4)}`);
      signatures.add(slot, memory, put(text));
      expect(marked(signatures, 'needle 123')).toContain(slot++);
    }),
    { numRuns: rounds(50, 150, 1500) },
  );
  expect(marked(signatures, 'quite another')).toEqual([]);
});

test('room that was given back is used for others, and what was there is forgotten', () => {
  const signatures = new Signatures(Signatures.MIN_BYTES);
  const add = (slot: number, text: string) => signatures.add(slot, memory, put(Buffer.from(text)));
  const all = Array.from({ length: 128 }, (_, slot) => add(slot, slot % 2 ? 'odd number' : 'even number')!);
  expect(add(128, 'one too many')).toBe(undefined);
  expect(marked(signatures, 'odd number')).toHaveLength(64);

  signatures.release(all[1]!);
  expect(marked(signatures, 'odd number')).toHaveLength(63);
  expect(add(500, 'even stranger')).toEqual(all[1]);
  expect(marked(signatures, 'odd number')).not.toContain(500);
  expect(marked(signatures, 'even stranger')).toEqual([500]);
});

test('of several needles a text must hold all, wherever they lie', () => {
  const signatures = new Signatures(10 * Signatures.MIN_BYTES);
  const texts = ['first one only', 'second one only', `first${' hay'.repeat(20_000)} second`];
  texts.forEach((text, slot) => signatures.add(slot, memory, put(Buffer.from(text))));
  expect(marked(signatures, 'first', 'second')).toEqual([2]);
});
