/** The ring beside a model that keeps everything. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { OutputRing, type RingRead } from './output-ring.ts';
import type { OutputStream } from './process.ts';

const streams = fc.constantFrom<OutputStream>('stdout', 'stderr');
const writes = fc.array(fc.record({ stream: streams, size: fc.integer({ min: 0, max: 40 }) }), {
  maxLength: 60,
  size: 'max',
});

/** One letter for each byte: `o` and `e` by stream, so that order and stream can be compared as text. */
function written(history: readonly { stream: OutputStream; size: number }[]): string {
  return history.map(({ stream, size }) => (stream === 'stdout' ? 'o' : 'e').repeat(size)).join('');
}

const streamsOf = ({ pieces }: RingRead) =>
  pieces.map(({ stream, bytes }) => (stream === 'stdout' ? 'o' : 'e').repeat(bytes.length)).join('');
const bytesOf = ({ pieces }: RingRead) => Buffer.concat(pieces.map(({ bytes }) => bytes));

describe('live.ring: a ring', () => {
  test('shell.P19 live.ring: gives each byte at its offset with its stream, or says from where on it has them', () => {
    fc.assert(
      fc.property(
        writes,
        fc.integer({ min: 1, max: 9000 }),
        fc.nat(),
        fc.integer({ min: 1, max: 300 }),
        (history, capacity, at, max) => {
          const ring = new OutputRing(capacity);
          const all: number[] = [];
          for (const { stream, size } of history) {
            const bytes = Buffer.from(Array.from({ length: size }, (_, n) => (all.length + n) % 251));
            all.push(...bytes);
            ring.add(stream, bytes);
          }
          for (const isFinished of [false, true]) {
            if (isFinished) ring.finish();
            const since = at % (all.length + 1);
            const read = ring.read(since, max);
            expect(read.from).toBe(Math.max(since, all.length - capacity, 0));
            expect(read.next).toBe(Math.min(all.length, read.from + max));
            expect([...bytesOf(read)]).toEqual(all.slice(read.from, read.next));
            expect(streamsOf(read)).toBe(written(history).slice(read.from, read.next));
            expect(ring.bufferedBytes).toBeLessThanOrEqual(capacity);
          }
        },
      ),
    );
  });

  test('live.ring: is read on in steps of any size without a gap', () => {
    fc.assert(
      fc.property(writes, fc.integer({ min: 1, max: 17 }), (history, step) => {
        const ring = new OutputRing(1 << 20);
        for (const { stream, size } of history) ring.add(stream, Buffer.alloc(size, 'x'));
        let seen = '';
        for (let next = 0; next < ring.end;) {
          const read = ring.read(next, step);
          seen += streamsOf(read);
          next = read.next;
        }
        expect(seen).toBe(written(history));
      }),
    );
  });

  test('live.ring: that gets single bytes of both streams in turn drops the oldest, and keeps few marks', () => {
    const ring = new OutputRing(1 << 20);
    for (let n = 0; n < 100_000; n++) ring.add(n % 2 === 0 ? 'stdout' : 'stderr', Buffer.from([n % 251]));
    const read = ring.read(0, 1 << 20);
    expect({ end: ring.end, pieces: read.pieces.length }).toEqual({ end: 100_000, pieces: 16_384 });
    expect([...bytesOf(read)].slice(0, 3)).toEqual([0, 1, 2].map((n) => (read.from + n) % 251));
    ring.finish();
    expect([...bytesOf(ring.read(99_998, 10))]).toEqual([99_998 % 251, 99_999 % 251]);
  });

  test('live.ring: takes memory as it is needed, and gives back what it did not need', () => {
    const ring = new OutputRing(1 << 20);
    ring.add('stdout', Buffer.alloc(10));
    expect(ring.bufferedBytes).toBe(4096);
    ring.add('stdout', Buffer.alloc(5000));
    ring.finish();
    expect(ring.bufferedBytes).toBe(5010);
  });

  test('live.ring: reports each change to its listeners, and the end', async () => {
    const ring = new OutputRing(100);
    let count = 0;
    const stop = ring.onChange(() => count++);
    ring.add('stdout', Buffer.from('a'));
    ring.add('stdout', Buffer.alloc(0));
    ring.finish();
    ring.finish();
    expect(count).toBe(2);
    stop();
    expect(ring.listenerCount).toBe(0);
  });

  test('live.ring: a wait ends with a change or its signal, and leaves no listener', async () => {
    const ring = new OutputRing(100);
    const control = new AbortController();
    const waits = [ring.changed(control.signal), ring.changed(new AbortController().signal)];
    control.abort();
    await waits[0];
    expect(ring.listenerCount).toBe(1);
    ring.add('stderr', Buffer.from('x'));
    await Promise.all([...waits, ring.changed(control.signal)]);
    expect(ring.listenerCount).toBe(0);
  });
});
