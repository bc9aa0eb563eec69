import { afterAll, expect, test } from 'vitest';

import { OutputRing, RegexThreads } from '#host';
import { PatternScan } from './pattern-scan.ts';

const { signal } = new AbortController();
const regexes = new RegexThreads();
afterAll(() => regexes.close());

const scanOf = (ring: OutputRing, pattern: string) =>
  new PatternScan(ring, regexes, { since: 0, pattern, stripsAnsi: false });

test('lines before and after dropped output are not joined', async () => {
  const ring = new OutputRing(1024);
  const scan = scanOf(ring, '^foo.*bar$');
  ring.add('stdout', Buffer.from('foo'));
  expect(await scan.scan(signal)).toBeUndefined();
  ring.add('stdout', Buffer.from(` is over\n${'x'.repeat(2000)}\n`));
  ring.add('stdout', Buffer.from(`${'y'.repeat(1100)}bar\n`));
  expect(await scan.scan(signal)).toBeUndefined();
});

test('an unfinished line is searched again when it has grown, and its offset is its first byte', async () => {
  const ring = new OutputRing(1 << 20);
  const scan = scanOf(ring, '^ra.*dy$');
  ring.add('stdout', Buffer.from('first\n'));
  for (const letter of 'reeeady') {
    expect(await scan.scan(signal)).toBeUndefined();
    ring.add('stderr', Buffer.from('-'));
    ring.add('stdout', Buffer.from(letter.replace('e', 'a')));
  }
  expect(await scan.scan(signal)).toEqual({ offset: 7, line: 'raaaady' });
});

test('20,000 pieces of one line cost neither the stack nor much time', async () => {
  const ring = new OutputRing(1 << 20);
  const scan = scanOf(ring, 'ready');
  for (let at = 0; at < 20_000; at++) {
    ring.add('stdout', Buffer.from('.'));
    ring.add('stderr', Buffer.from('.'));
  }
  ring.add('stdout', Buffer.from('\nready\n'));
  expect(await scan.scan(signal)).toEqual({ offset: 40_001, line: 'ready' });
});
