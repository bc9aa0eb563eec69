import { expect, test } from 'vitest';

import type { Frame } from './frames.ts';
import { encodeFrame, memoryLinks, type Link } from './link.ts';

const ping: Frame = { type: 'ping' };
const call = (n: number): Frame => ({ type: 'invokefunction', function_id: 'f', data: n });

/** Attaches and records the events, in order. */
function listen(link: Link): unknown[] {
  const seen: unknown[] = [];
  link.attach({ frame: (frame) => seen.push(frame), closed: (reason) => seen.push(reason) });
  return seen;
}

const later = () => new Promise<void>((resolve) => setImmediate(resolve));

test('frames arrive in order, later, and never while they are sent', async () => {
  const [a, b] = memoryLinks();
  const seen = listen(b);
  const outcomes = [1, 2, 3].map((n) => a.send(call(n)));
  expect([outcomes, seen]).toEqual([['sent', 'sent', 'sent'], []]);

  await later();
  expect(seen).toEqual([call(1), call(2), call(3)]);
});

test('frames that come before a listener is attached wait, in order with those that come after', async () => {
  const [a, b] = memoryLinks();
  a.send(call(1));
  await later();
  a.send(call(2));
  const seen = listen(b);
  await later();
  expect(seen).toEqual([call(1), call(2)]);
});

test('what was sent before a close arrives before it; after it nothing does', async () => {
  const [a, b] = memoryLinks();
  const [atA, atB] = [listen(a), listen(b)];
  a.send(ping);
  a.close('done');
  expect(a.send(ping)).toBe('closed');
  b.send(ping);

  await later();
  expect([atA, atB]).toEqual([['done'], [ping, 'done']]);
  expect(b.send(ping)).toBe('closed');
});

test('both ends get one close event, whichever closes how often', async () => {
  const [a, b] = memoryLinks();
  const [atA, atB] = [listen(a), listen(b)];
  a.close('first');
  b.close('second');
  a.close('third');
  await later();
  expect([atA, atB]).toEqual([['first'], ['second']]);
});

test('a listener attached after the close gets it, after the frames that came before', async () => {
  const [a, b] = memoryLinks();
  a.send(ping);
  a.close('gone early');
  await later();
  expect(listen(b)).toEqual([ping, 'gone early']);
});

test.each([
  ['a BigInt', { a: 1n }],
  ['a circle', circle()],
  ['something nested too deep', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
])('%s in a frame has no text', (_, data) => {
  expect(encodeFrame({ type: 'invokefunction', function_id: 'f', data })).toBeUndefined();
});

function circle(): object {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}
