/** Our own client beside the SDKs: serving, calling, cancelling, and reconnecting. */
import { expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import { silentLog } from '#contract';
import { startEngine, type TestEngine } from '#testing';
import { connectSdk, versions } from './support/clients.ts';
import { ownWorker } from './support/own-worker.ts';
import { startProxy } from './support/tcp-proxy.ts';
import { deferred, within } from './support/waiting.ts';

const routes = ['over a socket', 'in process'] as const;
const reach = ({ engine, url }: TestEngine, route: (typeof routes)[number]) =>
  connect(route === 'in process' ? engine.dialer() : url, { name: 'own' });

test.each(routes.flatMap((route) => versions.map((version) => [route, version] as const)))(
  'our worker %s answers a %s client, and calls it back',
  async (route, version) => {
    await using engine = await startEngine();
    const connection = await reach(engine, route);
    connection.serve(ownWorker());
    await connection.call('engine::workers::list');
    await using sdk = connectSdk(version, engine.url);
    sdk.registerFunction('sdk::double', async ({ n }: { n: number }) => ({ n: n * 2 }));

    expect(await sdk.trigger({ function_id: 'own::echo', payload: { n: 1 } })).toEqual({ n: 1 });
    expect(await connection.call('sdk::double', { n: 21 })).toEqual({ n: 42 });
    connection.close();
  },
);

test.each(routes)('a coded failure is read back with its code and its fix (%s)', async (route) => {
  await using engine = await startEngine();
  const worker = await connect(engine.engine.dialer());
  worker.serve(ownWorker());
  const caller = await reach(engine, route);

  await expect(caller.call('own::weigh', { size: 11 })).rejects.toMatchObject({
    code: 'C213',
    message: '11 bytes is too much',
    functionId: 'own::weigh',
    extra: { fix: { max_bytes: 10 } },
    body: { code: 'invocation_failed' },
  });
  for (const connection of [caller, worker]) connection.close();
});

const pairs = routes.flatMap((worker) => routes.map((caller) => [worker, caller] as const));

test.each(pairs)(
  'bus.P10 an aborted call aborts the signal of the handler (worker %s, caller %s)',
  async (...route) => {
    await using scene = await waitingCall(...route);

    scene.giveUp.abort();

    await expect(scene.call).rejects.toMatchObject({ code: 'CANCELLED', message: 'the caller stopped waiting' });
    expect(await within(scene.stopped, 'the abort')).toEqual(new Error('the caller cancelled the call'));
  },
);

test.each(pairs)(
  'bus.P10 a caller that leaves aborts the signal of the handler (worker %s, caller %s)',
  async (...route) => {
    await using scene = await waitingCall(...route);

    scene.caller.close();

    await expect(scene.call).rejects.toMatchObject({ code: 'connection_closed' });
    expect(await within(scene.stopped, 'the abort')).toEqual(new Error('the caller cancelled the call'));
  },
);

test.each(routes)('a worker %s is cancelled at the caller’s timeout', async (route) => {
  await using scene = await waitingCall(route, 'over a socket', 200);

  await expect(scene.call).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'invocation timed out after 200ms',
  });
  expect(await within(scene.stopped, 'the abort')).toEqual(new Error('the caller cancelled the call'));
});

test.each(versions)('a %s caller that leaves aborts the signal of our handler', async (version) => {
  await using engine = await startEngine();
  const started = deferred();
  const stopped = deferred<unknown>();
  const connection = await connect(engine.engine.dialer());
  connection.serve(ownWorker({ started: started.resolve, stopped: stopped.resolve }));
  const caller = connectSdk(version, engine.url);
  const call = caller.trigger({ function_id: 'own::wait', payload: {} });
  call.catch(() => {});
  await within(started.promise, 'the call');

  await caller.shutdown();

  expect(await within(stopped.promise, 'the abort')).toEqual(new Error('the caller cancelled the call'));
  connection.close();
});

test('after an engine restart our worker serves again; waiting calls failed, later ones waited', async () => {
  const first = await startEngine();
  const { port } = first.server;
  const logged: string[] = [];
  const log = { ...silentLog, info: (text: string) => logged.push(text) };
  const worker = await connect(first.url, { name: 'own', log });
  const caller = await connect(first.url);
  const started = deferred();
  worker.serve(ownWorker({ started: started.resolve, stopped() {} }));
  await worker.call('engine::workers::list');
  const lost = caller.call('own::wait');
  lost.catch(() => {});
  await within(started.promise, 'the call');

  await first[Symbol.asyncDispose]();
  await expect(lost).rejects.toMatchObject({ code: 'connection_lost' });
  const early = caller.call('engine::workers::list');
  await using second = await startEngine({ port });

  expect(await early).toMatchObject({ workers: expect.any(Array) });
  await using sdk = connectSdk('0.22.1', second.url);
  const call = () => sdk.trigger({ function_id: 'own::echo', payload: { n: 7 } });
  await expect.poll(call).toEqual({ n: 7 });
  expect(logged).toEqual(['the engine is back; registered again']);
  for (const connection of [caller, worker]) connection.close();
});

test('a call that waits when the engine vanishes fails with connection_lost, saying that it may have run', async () => {
  await using engine = await startEngine();
  await using proxy = await startProxy(engine.server.port);
  const worker = await connect(engine.engine.dialer());
  const started = deferred();
  worker.serve(ownWorker({ started: started.resolve, stopped() {} }));
  const caller = await connect(proxy.url);
  const call = caller.call('own::wait');
  call.catch(() => {});
  await within(started.promise, 'the call');

  proxy.cutClients();

  await expect(call).rejects.toMatchObject({
    code: 'connection_lost',
    message: expect.stringMatching(/^the connection to the engine was lost \(.+\); the call may have run$/),
  });
  for (const connection of [caller, worker]) connection.close();
});

test('cut off on its own side only, our worker takes its old session back', async () => {
  await using engine = await startEngine();
  await using proxy = await startProxy(engine.server.port);
  await using sdk = connectSdk('0.22.1', engine.url);
  const worker = await connect(proxy.url, { name: 'own' });
  worker.serve(ownWorker());
  await worker.call('engine::workers::list');

  proxy.cutClients();
  await expect.poll(() => proxy.taken).toBe(2);
  await worker.call('engine::workers::list');

  const { workers } = await sdk.trigger({ function_id: 'engine::workers::list', payload: { search: 'own' } });
  expect(workers.length).toBe(1);
  const echo = { function_id: 'own::echo', payload: { n: 3 } };
  expect(await sdk.trigger(echo)).toEqual({ n: 3 });
  worker.close();
});

/** A call to our worker that has begun and will not end by itself. */
async function waitingCall(
  workerRoute: (typeof routes)[number],
  callerRoute: (typeof routes)[number],
  timeoutMs = 30_000,
) {
  const engine = await startEngine();
  const started = deferred();
  const stopped = deferred<unknown>();
  const worker: Connection = await reach(engine, workerRoute);
  worker.serve(ownWorker({ started: started.resolve, stopped: stopped.resolve }));
  await worker.call('engine::workers::list');
  const caller = await reach(engine, callerRoute);
  await caller.call('engine::workers::list');
  const giveUp = new AbortController();
  const call = caller.call('own::wait', {}, { signal: giveUp.signal, timeoutMs });
  call.catch(() => {});
  await within(started.promise, 'the call');
  return {
    caller,
    call,
    giveUp,
    stopped: stopped.promise,
    async [Symbol.asyncDispose]() {
      for (const connection of [caller, worker]) connection.close();
      await engine[Symbol.asyncDispose]();
    },
  };
}
