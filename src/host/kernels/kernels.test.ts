import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { kernelsOn, newMemory } from './index.ts';

const memory = newMemory(4);
const kernels = kernelsOn(memory);
const buffer = Buffer.from(memory.buffer);
const TEXT = 4096;
const NEEDLE = 64;

/** Few different bytes, so that near misses and hits across the 16 byte steps are common. */
const bytes = (maxLength: number, minLength = 0) =>
  fc.array(fc.constantFrom(...Buffer.from('aAbBkK\n\0[{@`zZ'), 0xc4, 0xb0, 0xe2, 0x84, 0xaa, 0xff), {
    minLength,
    maxLength,
    size: 'max',
  });
const start = fc.integer({ min: TEXT, max: TEXT + 17 });

/** The bytes around a text are not part of it. */
function place(text: number[], at: number): Buffer {
  buffer.fill('aAbBk\n\0z', TEXT - 64, TEXT + 1024);
  buffer.set(text, at);
  return Buffer.from(text);
}

const fold = (text: Buffer) => Buffer.from(text.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte)));

test('find is indexOf, whatever the probes', () => {
  fc.assert(
    fc.property(bytes(200), bytes(5, 1), start, fc.nat(), fc.nat(), (raw, needle, at, a, b) => {
      const text = place(raw, at);
      buffer.set(needle, NEEDLE);
      const probes = [a % needle.length, b % needle.length] as const;
      const found = kernels.find(at, text.length, NEEDLE, needle.length, ...probes);
      expect(found).toBe(text.indexOf(Buffer.from(needle)));
    }),
    { numRuns: rounds(500, 2000, 20_000) },
  );
});

test('findFolded is indexOf on text whose ASCII letters are in lower case', () => {
  fc.assert(
    fc.property(bytes(200), bytes(5, 1), start, fc.nat(), fc.nat(), (raw, any, at, a, b) => {
      const text = place(raw, at);
      const needle = fold(Buffer.from(any));
      buffer.set(needle, NEEDLE);
      const probes = [a % needle.length, b % needle.length] as const;
      const found = kernels.findFolded(at, text.length, NEEDLE, needle.length, ...probes);
      expect(found).toBe(fold(text).indexOf(needle));
    }),
    { numRuns: rounds(500, 2000, 20_000) },
  );
});

test('findRun finds the first place where characters of the kinds follow each other', () => {
  const kinds = ['a', 'ab', 'aA', 'abkz', '[{@`', 'zZ', '\n\0'].map((kind) => Buffer.from(kind));
  const offsets = NEEDLE + 512;
  fc.assert(
    fc.property(
      bytes(200),
      fc.array(fc.nat(kinds.length - 1), { minLength: 1, maxLength: 16, size: 'max' }),
      start,
      (raw, picked, at) => {
        const text = place(raw, at);
        const run = picked.map((i) => kinds[i]!);
        run.toReversed().forEach((kind, i) => {
          const table = buffer.subarray(NEEDLE + 16 * i, NEEDLE + 16 * i + 16).fill(0);
          for (const char of kind) table[char & 15]! |= 1 << (char >> 4);
          buffer[offsets + i] = run.length - 1 - i;
        });
        const isThere = (from: number) => run.every((kind, i) => kind.includes(text[from + i]!));
        const starts = Array.from({ length: Math.max(text.length - run.length + 1, 0) }, (_, i) => i);
        const found = kernels.findRun(at, text.length, NEEDLE, offsets, run.length, run.length);
        expect(found).toBe(starts.find(isThere) ?? -1);
      },
    ),
    { numRuns: rounds(500, 2000, 20_000) },
  );
});

test('newlines are counted and found from both ends', () => {
  fc.assert(
    fc.property(bytes(300), start, (raw, at) => {
      const text = place(raw, at);
      expect(kernels.countNewlines(at, text.length)).toBe(raw.filter((byte) => byte === 10).length);
      expect(kernels.nextNewline(at, text.length)).toBe(text.indexOf(10));
      expect(kernels.lastNewline(at, text.length)).toBe(text.lastIndexOf(10));
    }),
    { numRuns: rounds(250, 1000, 10_000) },
  );
});

test('a NUL is seen wherever it is, and only in the text', () => {
  fc.assert(
    fc.property(bytes(300), start, (raw, at) => {
      const text = place(raw, at);
      expect(kernels.hasNul(at, text.length) !== 0).toBe(text.includes(0));
    }),
    { numRuns: rounds(250, 1000, 10_000) },
  );
});

test('the characters that ASCII letters stand for in another case are seen', () => {
  const strange = ['\u0130', '\u017F', '\u212A'];
  const piece = fc.constantFrom('a', 'k', ...strange, '\u0141', '\u2122', 'é', '字');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60, size: 'max' }), start, fc.nat(8), (pieces, at, cut) => {
      const all = Buffer.from(pieces.join(''));
      const text = place([...all.subarray(0, Math.max(0, all.length - cut))], at);
      const strangers = strange.some((stranger) => text.includes(stranger));
      expect(kernels.hasCaseStrangers(at, text.length) !== 0).toBe(strangers);
    }),
    { numRuns: rounds(250, 1000, 10_000) },
  );
});

test('text is escaped as JSON.stringify does, wherever it stands', () => {
  const [to, most] = [8192, 6 * 120];
  const byte = fc.oneof(fc.nat(127), fc.constantFrom(...Buffer.from('ab\n"\\')));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 120, size: 'max' }), start, (raw, at) => {
      const text = place(raw, at);
      buffer.fill('"', to, to + most + 64);
      const length = kernels.escapeJson(at, text.length, to);
      expect(buffer.toString('latin1', to, to + length)).toBe(JSON.stringify(text.toString()).slice(1, -1));
      expect(buffer.subarray(to + length + 16, to + most + 64).every((other) => other === 34)).toBe(true);
    }),
    { numRuns: rounds(500, 2000, 20_000) },
  );
});

test('a text has all the bits of what it holds, in any case', () => {
  const [signature, wanted, size] = [1024, 2048, 512];
  fc.assert(
    fc.property(bytes(100, 3), start, fc.nat(), fc.nat(), (raw, at, from, length) => {
      const text = place(raw, at);
      const part = text.subarray(from % text.length, (from % text.length) + (length % text.length));
      buffer.fill(0, signature, signature + size);
      buffer.fill(0, wanted, wanted + size);
      kernels.addTrigrams(at, text.length, signature, 20);
      buffer.set(fold(part), NEEDLE);
      kernels.addTrigrams(NEEDLE, part.length, wanted, 20);
      const missing = rowsOf(wanted, size).filter((row) => !rowsOf(signature, size).includes(row));
      expect(missing).toEqual([]);
      expect(rowsOf(wanted, size).length > 0).toBe(part.length >= 3);
    }),
    { numRuns: rounds(250, 1000, 10_000) },
  );
});

test('the columns that have all rows are found, whatever was in them before', () => {
  const [signature, rows, set, blocks, bits, blockBytes] = [1024, 2048, 3072, 4096, 64, 1024];
  const columns = fc.array(fc.array(fc.nat(bits - 1), { maxLength: 12 }), { minLength: 256, maxLength: 256 });
  const write = (rowsSet: number[][]) => {
    for (const [column, some] of rowsSet.entries()) {
      buffer.fill(0, signature, signature + bits / 8);
      for (const row of some) buffer[signature + (row >> 3)]! |= 1 << (row & 7);
      kernels.setColumn(blocks + Math.floor(column / 128) * blockBytes, column % 128, signature, bits);
    }
  };
  fc.assert(
    fc.property(columns, columns, fc.array(fc.nat(bits - 1), { minLength: 1, maxLength: 3 }), (old, now, asked) => {
      write(old);
      write(now);
      new Uint32Array(memory.buffer, rows, asked.length).set(asked);
      buffer.fill(0, set, set + 32);
      buffer[set] = 1;
      kernels.addColumns(blocks, 2, blockBytes, rows, asked.length, set);
      const expected = now.flatMap((some, i) => (i === 0 || asked.every((row) => some.includes(row)) ? [i] : []));
      expect(rowsOf(set, 32)).toEqual(expected);
    }),
    { numRuns: rounds(30, 100, 1000) },
  );
});

/** The bits that are set. */
function rowsOf(at: number, size: number): number[] {
  return Array.from({ length: 8 * size }, (_, bit) => bit).filter((bit) => (buffer[at + (bit >> 3)]! >> (bit & 7)) & 1);
}
