import { expect, test } from 'vitest';

import type { Bus, CallOptions } from '#contract';
import { streamCall } from './call-stream.ts';

/** A call that ends and reports when the test decides. */
function setup() {
  let options: CallOptions = {};
  let end = (_: unknown) => {};
  const call: Bus['call'] = (_, __, given = {}) => {
    options = given;
    return new Promise((resolve) => (end = resolve));
  };
  const stream = streamCall({ call } as Bus, 'f');
  return {
    stream,
    report: (at: number) => options.onEvent!({ type: 'step', at }),
    end: (value: unknown) => end(value),
  };
}

test('two loops over one call share its events, and both end with it', async () => {
  const { stream, report, end } = setup();
  const loop = async () => {
    const heard = [];
    for await (const { at } of stream) heard.push(at);
    return heard;
  };
  const loops = [loop(), loop()];
  report(1);
  report(2);
  end('done');
  expect((await Promise.all(loops)).flat()).toEqual([1, 2]);
  expect(await stream.result).toBe('done');
});

test('a stream that is not read keeps only the newest 1,000 events', async () => {
  const { stream, report, end } = setup();
  for (let at = 1; at <= 5_000; at++) report(at);
  end('done');
  await stream.result;
  const heard = [];
  for await (const { at } of stream) heard.push(at);
  expect([heard.length, heard[0], heard.at(-1)]).toEqual([1_000, 4_001, 5_000]);
});
