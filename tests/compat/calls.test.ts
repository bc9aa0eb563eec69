/** Calls between clients of both SDK generations: values arrive unchanged. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, pairs, versions } from './support/clients.ts';
import { deferred, within } from './support/waiting.ts';

test.each(pairs)('bus.P1 a function of a %s worker answers a %s client', async (workerVersion, callerVersion) => {
  await using engine = await startEngine();
  await using worker = connectSdk(workerVersion, engine.url);
  await using caller = connectSdk(callerVersion, engine.url);
  worker.registerFunction('math::add', async ({ a, b }: { a: number; b: number }) => ({ sum: a + b }));
  await worker.settled();

  const result = await caller.trigger({ function_id: 'math::add', payload: { a: 2, b: 3 } });

  expect(result).toEqual({ sum: 5 });
});

test.each(versions)('%s: a worker calls its own function before its socket is open', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  client.registerFunction('self::echo', async (input: unknown) => ({ input }));

  const result = await client.trigger({ function_id: 'self::echo', payload: { hello: 1 } });

  expect(result).toEqual({ input: { hello: 1 } });
});

test.each(versions)('%s: a handler calls another worker and passes its answer on', async (version) => {
  await using engine = await startEngine();
  await using inner = connectSdk('0.22.1', engine.url);
  await using outer = connectSdk(version, engine.url);
  inner.registerFunction('inner::double', async (input: { n: number }) => ({ n: input.n * 2 }));
  outer.registerFunction('outer::ask', async (input: { n: number }) =>
    outer.trigger({ function_id: 'inner::double', payload: input }),
  );
  await inner.settled();

  expect(await outer.trigger({ function_id: 'outer::ask', payload: { n: 21 } })).toEqual({ n: 42 });
});

test.each(versions)('metadata of a 0.22.1 call reaches a 0.22.1 handler (called from %s)', async (version) => {
  await using engine = await startEngine();
  await using worker = connectSdk('0.22.1', engine.url);
  await using caller = connectSdk(version, engine.url);
  worker.registerFunction('meta::echo', async (input: unknown, metadata: unknown) => ({
    input,
    metadata: metadata ?? 'none',
  }));
  await worker.settled();

  const result = await caller.trigger({
    function_id: 'meta::echo',
    payload: { n: 1 },
    metadata: { tenant: 'acme', depth: [1, { two: 2 }] },
  });

  const sentBy011 = 'none';
  expect(result).toEqual({
    input: { n: 1 },
    metadata: version === '0.22.1' ? { tenant: 'acme', depth: [1, { two: 2 }] } : sentBy011,
  });
});

test('a 0.11.6 handler is called with the payload alone when metadata came with it', async () => {
  await using engine = await startEngine();
  await using worker = connectSdk('0.11.6', engine.url);
  await using caller = connectSdk('0.22.1', engine.url);
  worker.registerFunction('meta::count', async (...args: unknown[]) => ({ args }));
  await worker.settled();

  const result = await caller.trigger({ function_id: 'meta::count', payload: 7, metadata: { any: true } });

  expect(result).toEqual({ args: [7] });
});

test.each(pairs)('a payload left out arrives as null (%s worker, %s client)', async (workerVersion, callerVersion) => {
  await using engine = await startEngine();
  await using worker = connectSdk(workerVersion, engine.url);
  await using caller = connectSdk(callerVersion, engine.url);
  const seen = deferred<unknown>();
  worker.registerFunction('payload::take', async (input: unknown) => {
    seen.resolve(input);
    return 'taken';
  });
  await worker.settled();

  expect(await caller.trigger({ function_id: 'payload::take', payload: undefined })).toBe('taken');
  expect(await within(seen.promise, 'the payload')).toBeNull();
});

const values = [
  null,
  undefined,
  false,
  0,
  '',
  [],
  'ä € 😀 \u2028 \u0000 "quoted" \\',
  { a: [{ b: { c: [null, true, 1.5e-7, 'x'] } }] },
];

test.each(pairs)('any JSON value comes back as it is, and null is left out (%s worker, %s client)', async (...pair) => {
  await using engine = await startEngine();
  await using worker = connectSdk(pair[0], engine.url);
  await using caller = connectSdk(pair[1], engine.url);
  worker.registerFunction('value::give', async ({ at }: { at: number }) => values[at]);
  await worker.settled();

  const results = values.map((_, at) => caller.trigger({ function_id: 'value::give', payload: { at } }));

  expect(await Promise.all(results)).toStrictEqual(values.map((value) => value ?? undefined));
});

test.each(versions)('%s: an unregistered function is gone, and may be registered again', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  const call = () => client.trigger({ function_id: 'brief::life', payload: {} });
  const first = client.registerFunction('brief::life', async () => 'first');
  expect(await call()).toBe('first');

  first.unregister();
  await expect(call()).rejects.toMatchObject({ code: 'function_not_found' });

  client.registerFunction('brief::life', async () => 'second');
  expect(await call()).toBe('second');
});
