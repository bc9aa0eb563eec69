import { expect, test } from 'vitest';

import { CallContents } from './call-contents.ts';

const KiB = 1024;
const textOf = (contents: CallContents, id: string) => {
  const { payload, outcome } = contents.find(id) ?? {};
  return [payload?.json.toString(), outcome?.kind, outcome?.json.toString()];
};

test('keeps nothing while no console watches', () => {
  const contents = new CallContents(KiB);
  contents.addPayload('a', 1);
  contents.addOutcome('a', 'result', 2);
  contents.addRefused('b', 1, 2);
  expect([contents.find('a'), contents.find('b'), contents.bytes]).toEqual([undefined, undefined, 0]);
});

test('keeps both sides of a call, and forgets everything with the last watcher', () => {
  const contents = new CallContents(64 * KiB);
  const [one, two] = [{}, {}];
  contents.watch(one);
  contents.watch(two);
  contents.addPayload('a', { x: 1 });
  contents.addOutcome('a', 'error', { code: 'E' });
  contents.addOutcome('late', 'result', 5);
  expect([textOf(contents, 'a'), textOf(contents, 'late')]).toEqual([
    ['{"x":1}', 'error', '{"code":"E"}'],
    [undefined, 'result', '5'],
  ]);

  contents.unwatch(one);
  contents.unwatch(one);
  expect([contents.watcherCount, contents.find('a') !== undefined]).toEqual([1, true]);
  contents.unwatch(two);
  expect([contents.watcherCount, contents.find('a'), contents.bytes]).toEqual([0, undefined, 0]);
});

test('the oldest calls are evicted, and the sum stays right', () => {
  const contents = new CallContents(16 * KiB);
  contents.watch({});
  for (let i = 0; i < 100; i += 1) {
    contents.addPayload(`call ${i}`, 'x'.repeat(KiB));
    contents.addOutcome(`call ${i}`, 'result', 'y'.repeat(KiB));
    expect(contents.bytes).toBeLessThanOrEqual(16 * KiB);
  }
  expect([contents.find('call 0'), textOf(contents, 'call 99')[1]]).toEqual([undefined, 'result']);
  expect(contents.bytes).toBeGreaterThan(12 * KiB);
});

test('content larger than the limit is not kept', () => {
  const contents = new CallContents(0);
  contents.watch({});
  contents.addPayload('a', 1);
  expect([contents.find('a'), contents.bytes]).toEqual([undefined, 0]);
});

test('a refused call does not replace another with its id', () => {
  const contents = new CallContents(64 * KiB);
  contents.watch({});
  contents.addPayload('a', 'mine');
  contents.addRefused('a', 'other', {});
  contents.addRefused('b', 'refused', { code: 'function_not_found' });
  expect([textOf(contents, 'a'), textOf(contents, 'b')]).toEqual([
    ['"mine"', undefined, undefined],
    ['"refused"', 'error', '{"code":"function_not_found"}'],
  ]);
});
