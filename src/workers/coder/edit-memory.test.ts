import { expect, test } from 'vitest';

import { EditMemory } from './edit-memory.ts';

const MIB = 1 << 20;

test('the next edit gets what an earlier one had', () => {
  const first = firstOf(new EditMemory(), 100);
  const again = firstOf(new EditMemory(), 200);
  expect([again.length, again.buffer === first.buffer]).toEqual([200, true]);
});

test('what an edit has is its own until it ends', () => {
  using one = new EditMemory();
  using other = new EditMemory();
  const taken = [one.take(10), one.take(10), other.take(10), other.take(MIB), other.take(MIB + 1), other.take(MIB + 1)];
  taken.forEach((bytes, i) => bytes.fill(i));
  expect(taken.map((bytes) => [bytes[0], bytes.at(-1)])).toEqual(taken.map((_, i) => [i, i]));
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(taken.length);
});

test('a long text has no more memory than it needs, and that goes with it', () => {
  const long = firstOf(new EditMemory(), MIB + 1);
  expect([long.length, firstOf(new EditMemory(), MIB + 1).buffer === long.buffer]).toEqual([MIB + 1, false]);
});

test('four blocks are all there are, however many edits there are at once', () => {
  const blocksOf = (edits: readonly EditMemory[]) =>
    edits.map((edit) => edit.take(10).buffer).filter(({ byteLength }) => byteLength >= MIB);
  const edits = Array.from({ length: 50 }, () => new EditMemory());
  const blocks = blocksOf(edits);
  edits.forEach((edit) => edit[Symbol.dispose]());

  using next = new EditMemory();
  const again = blocksOf(Array.from({ length: 50 }, () => next));
  expect([blocks.length, again.length, new Set([...blocks, ...again]).size]).toEqual([4, 4, 4]);
});

/** The buffer of an edit that then ends. */
function firstOf(edit: EditMemory, length: number): Buffer {
  using memory = edit;
  return memory.take(length);
}
