/** Many calls, large payloads, and payloads just above the limit. */
import { createHash, randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, pairs, versions } from './support/clients.ts';

const MiB = 1024 * 1024;

test.each(pairs)(
  'bus.P2 5,000 pipelined calls over one socket all get their own answer (%s worker, %s client)',
  async (...pair) => {
    await using engine = await startEngine();
    await using worker = connectSdk(pair[0], engine.url);
    await using caller = connectSdk(pair[1], engine.url);
    worker.registerFunction('square', async ({ n }: { n: number }) => {
      // Answers overtake each other: every third waits a turn of the event loop.
      if (n % 3 === 0) await new Promise((turn) => setImmediate(turn));
      return { n, square: n * n };
    });
    await worker.settled();

    const numbers = Array.from({ length: 5_000 }, (_, n) => n);
    const calls = numbers.map((n) => caller.trigger({ function_id: 'square', payload: { n } }));

    expect(await Promise.all(calls)).toEqual(numbers.map((n) => ({ n, square: n * n })));
  },
);

test.each(versions)('bus.P2 %s: 20 MiB travel both ways in one message each, hash-equal', async (version) => {
  await using engine = await startEngine();
  await using worker = connectSdk(version, engine.url);
  await using caller = connectSdk(version, engine.url);
  const sent = randomBytes(10 * MiB).toString('hex');
  const given = randomBytes(10 * MiB).toString('hex');
  worker.registerFunction('big::swap', async ({ text }: { text: string }) => ({ hash: sha256(text), text: given }));
  await worker.settled();

  const result = await caller.trigger({ function_id: 'big::swap', payload: { text: sent } });

  expect({ hash: result.hash, bytes: result.text.length, back: sha256(result.text) }).toEqual({
    hash: sha256(sent),
    bytes: 20 * MiB,
    back: sha256(given),
  });
});

const small = { maxMessageBytes: MiB, maxFrameBytes: 4 * MiB };

test.each(versions)(
  'bus.P3 %s: a request over the limit fails alone; the connection and its other calls live on',
  async (version) => {
    await using engine = await startEngine({ limits: small });
    await using worker = connectSdk(version, engine.url);
    await using caller = connectSdk(version, engine.url);
    worker.registerFunction('any::size', async ({ text }: { text: string }) => text.length);
    await worker.settled();

    const call = (bytes: number) => caller.trigger({ function_id: 'any::size', payload: { text: 'x'.repeat(bytes) } });
    const [before, over, after] = await Promise.allSettled([call(1), call(2 * MiB), call(2)]);

    expect([before, after]).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 2 },
    ]);
    expect(over).toMatchObject({ status: 'rejected', reason: { code: 'payload_too_large' } });
    expect(over.status === 'rejected' && over.reason.message).toMatch(
      /^payload_too_large: the request is 2\d{6} bytes; the limit is 1048576: use a channel/,
    );
  },
);

test.each(versions)('bus.P3 %s: a result over the limit fails alone; the worker stays connected', async (version) => {
  await using engine = await startEngine({ limits: small });
  await using worker = connectSdk(version, engine.url);
  await using caller = connectSdk(version, engine.url);
  worker.registerFunction('give::bytes', async ({ bytes }: { bytes: number }) => 'x'.repeat(bytes));
  await worker.settled();
  await caller.settled();
  const connections = () => caller.trigger({ function_id: 'engine::workers::list', payload: {} }).then(idsOf);
  const before = await connections();

  const over = caller.trigger({ function_id: 'give::bytes', payload: { bytes: 2 * MiB } });

  await expect(over).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringMatching(
      /^payload_too_large: the result is 2\d{6} bytes; the limit is 1048576: use a channel/,
    ),
  });
  expect(await caller.trigger({ function_id: 'give::bytes', payload: { bytes: 3 } })).toBe('xxx');
  expect(await connections()).toEqual(before);
});

test.each(versions)('%s: a frame far over the limit closes the connection of its sender only', async (version) => {
  await using engine = await startEngine({ limits: small });
  await using worker = connectSdk(version, engine.url);
  await using sender = connectSdk(version, engine.url);
  worker.registerFunction('any::size', async ({ text }: { text: string }) => text.length);
  await worker.settled();
  const call = (bytes: number, timeoutMs: number) =>
    sender.trigger({ function_id: 'any::size', payload: { text: 'x'.repeat(bytes) }, timeoutMs });

  await expect(call(5 * MiB, 500)).rejects.toMatchObject({ code: 'TIMEOUT' });

  // On a busy machine the first of these may still go down with the connection that is being closed.
  await expect.poll(() => call(1, 5_000).catch(() => undefined)).toBe(1);
});

function idsOf({ workers }: { workers: { id: string }[] }): string[] {
  return workers.map(({ id }) => id).toSorted();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
