import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds, tempDir } from '#testing';
import { openJail } from '../jail/jail.ts';
import { BLOCK_BYTES, bytesAsSource, type ByteSource } from './line-index-block.ts';
import { LineIndex, LineIndexes, readLines } from './line-index.ts';
import { locateLines } from './text-lines.ts';

const never = { signal: new AbortController().signal };

/** Counts the blocks read from it. */
function counted(source: ByteSource) {
  const self = {
    size: source.size,
    reads: 0,
    readAt(target: Buffer, position: number) {
      self.reads += 1;
      return source.readAt(target, position);
    },
  };
  return self;
}

/** A text with newlines every so many bytes. */
function textOf(length: number, step: number): Buffer {
  const bytes = Buffer.alloc(length, 'x');
  for (let at = step - 1; at < length; at += step) bytes[at] = 10;
  return bytes;
}

test.each([
  ['nothing', ''],
  ['a newline', '\n'],
  ['a line without newline', 'a'],
  ['a line', 'a\n'],
  ['lines, the last one open', 'a\n\nb'],
])('%s', async (_, text) => {
  const bytes = Buffer.from(text);
  const { count, starts } = locateLines(bytes, [1, 2, 3, 4]);
  const index = new LineIndex();
  const source = bytesAsSource(bytes);
  const found = [];
  for (const line of [1, 2, 3, 4]) found.push(await index.startOf(line, source, never));
  const isThere = (line: number) => line === 1 || line <= count;
  expect(found).toEqual([1, 2, 3, 4].map((line) => (isThere(line) ? starts.get(line) : undefined)));
  expect(await index.countLines(source, never)).toBe(count);
});

test('finds every line in a text of several blocks, in whatever order they are asked for', async () => {
  const lengths = fc.constantFrom(
    BLOCK_BYTES - 1,
    BLOCK_BYTES,
    BLOCK_BYTES + 1,
    3 * BLOCK_BYTES,
    3 * BLOCK_BYTES + 777,
  );
  const steps = fc.constantFrom(1, 2, 7, 4096, BLOCK_BYTES - 1, BLOCK_BYTES, 2 * BLOCK_BYTES + 5);
  await fc.assert(
    fc.asyncProperty(
      lengths,
      steps,
      fc.array(fc.double({ min: 0, max: 1.05, noNaN: true })),
      async (length, step, at) => {
        const bytes = textOf(length, step);
        const count = Math.ceil(length / step);
        const index = new LineIndex();
        const lines = at.map((share) => Math.floor(share * count) + 1);
        for (const line of [...lines, count, count + 1]) {
          const expected = line === 1 || line <= count ? (line - 1) * step : undefined;
          expect(await index.startOf(line, bytesAsSource(bytes), never)).toBe(expected);
        }
        expect(index.totalLines).toBe(count);
      },
    ),
    { numRuns: rounds(40, 120, 1200) },
  );
});

test('reads no further than asked, and a block for a line it has passed', async () => {
  const source = counted(bytesAsSource(textOf(6 * BLOCK_BYTES, 64)));
  const index = new LineIndex();
  await index.startOf(10, source, never);
  expect([source.reads, index.totalLines]).toEqual([2, undefined]);

  await index.countLines(source, never);
  expect([source.reads, index.totalLines]).toEqual([7, (6 * BLOCK_BYTES) / 64]);

  expect(await index.startOf(60_000, source, never)).toBe(59_999 * 64);
  expect(source.reads).toBe(8);
});

test('two calls count on in the same index', async () => {
  const source = bytesAsSource(textOf(30 * BLOCK_BYTES, 100));
  const index = new LineIndex();
  const total = Math.ceil((30 * BLOCK_BYTES) / 100);
  expect(await Promise.all([index.countLines(source, never), index.countLines(source, never)])).toEqual([total, total]);
});

test('stops between two turns after its caller left', async () => {
  const cancelled = { signal: AbortSignal.abort(new Error('cancelled')) };
  const source = bytesAsSource(textOf(9 * BLOCK_BYTES, 64));
  await expect(new LineIndex().countLines(source, cancelled)).rejects.toThrow('cancelled');
  const all = { start: 0, lines: Infinity, maxBytes: Infinity };
  await expect(readLines(source, all, cancelled)).rejects.toThrow('cancelled');
});

test('reads so many lines, or as many bytes as allowed, from anywhere', async () => {
  const bytes = textOf(3 * BLOCK_BYTES, 100);
  const spans = fc.record({ start: fc.nat(bytes.length), lines: fc.nat(30_000), maxBytes: fc.nat(bytes.length) });
  await fc.assert(
    fc.asyncProperty(spans, async ({ start, lines, maxBytes }) => {
      const ends = Math.ceil((start + 1) / 100) * 100 + (lines - 1) * 100;
      const end = Math.min(bytes.length, start + maxBytes, lines === 0 ? start : ends);
      const read = await readLines(bytesAsSource(bytes), { start, lines, maxBytes }, never);
      expect(read.bytes.equals(bytes.subarray(start, end))).toBe(true);
      expect(read.newlines).toBe(Math.floor(end / 100) - Math.floor(start / 100));
    }),
  );
});

test('an index is kept while its file does not change', async () => {
  await using dir = await tempDir({ file: 'a\nb\n' });
  const jail = openJail(dir.root);
  const indexes = new LineIndexes();
  const current = () => {
    using file = jail.open('file');
    return indexes.of(file);
  };
  await delay(60);
  const kept = current();
  expect(current()).toBe(kept);

  writeFileSync(dir.path('file'), 'x\ny\n');
  expect(current()).not.toBe(kept);
});

test('no index is kept of a file that has just changed', () => {
  const indexes = new LineIndexes();
  const stat = { dev: 1, ino: 1, size: 5, mtimeMs: 0, ctimeMs: Date.now() + 60_000 } as never;
  expect(indexes.of({ stat })).not.toBe(indexes.of({ stat }));
});
