/** A process killed in the middle of a call, on either side of it. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { Child } from './support/children.ts';
import { connectSdk, packageOf, pairs, versions, type SdkClient, type Version } from './support/clients.ts';
import { deferred, within } from './support/waiting.ts';

const HOUR_MS = 3_600_000;

test.each(pairs)(
  'bus.P4 a killed %s worker stops the call of a %s caller at once',
  async (workerVersion, callerVersion) => {
    // Without a heartbeat nothing but the end of the connection can stop the call.
    await using engine = await startEngine({ limits: { pingIntervalMs: HOUR_MS, idleMs: HOUR_MS } });
    await using child = hangingWorker(workerVersion, engine.url);
    await using caller = connectSdk(callerVersion, engine.url);
    await child.printed('ready');
    const call = caller.trigger({ function_id: 'child::hang', payload: {} });
    call.catch(() => {});
    await child.printed('called');

    await child.kill('SIGKILL');

    await expect(call).rejects.toMatchObject({
      code: 'invocation_stopped',
      message: 'invocation_stopped: Invocation stopped',
      function_id: 'child::hang',
    });
    await expect(caller.trigger({ function_id: 'child::hang', payload: {} })).rejects.toMatchObject({
      code: 'function_not_found',
    });
  },
);

test('a killed worker stops all its calls, and no call of another worker', async () => {
  await using engine = await startEngine();
  await using child = hangingWorker('0.22.1', engine.url);
  await using other = connectSdk('0.22.1', engine.url);
  await using caller = connectSdk('0.11.6', engine.url);
  const mayFinish = deferred();
  other.registerFunction('other::work', async () => {
    await mayFinish.promise;
    return 'untouched';
  });
  await other.settled();
  await child.printed('ready');

  const lost = Array.from({ length: 20 }, () => caller.trigger({ function_id: 'child::hang', payload: {} }));
  const kept = caller.trigger({ function_id: 'other::work', payload: {} });
  const outcomes = Promise.allSettled(lost);
  await child.printed('called\n'.repeat(20));
  await child.kill('SIGKILL');

  const codes = (await outcomes).map((outcome) =>
    outcome.status === 'rejected' ? outcome.reason.code : outcome.value,
  );
  expect(codes).toEqual(Array.from({ length: 20 }, () => 'invocation_stopped'));
  mayFinish.resolve();
  expect(await kept).toBe('untouched');
});

test.each(versions)('a killed %s caller leaves the worker to finish and the engine unharmed', async (version) => {
  await using engine = await startEngine();
  await using worker = connectSdk('0.22.1', engine.url, { workerName: 'survivor' });
  const started = deferred();
  const mayFinish = deferred();
  const finished = deferred<string>();
  worker.registerFunction('long::work', async () => {
    started.resolve();
    await mayFinish.promise;
    finished.resolve('finished');
    return 'not delivered';
  });
  await worker.settled();
  await using child = new Child(`
    import { registerWorker } from '${packageOf[version]}';
    const client = registerWorker('${engine.url}', { enableMetricsReporting: false });
    client.registerFunction('caller::own', async () => 1);
    await client.trigger({ function_id: 'long::work', payload: {} });
  `);
  await within(started.promise, 'the call');
  expect(await activeInvocations(worker)).toBe(1);

  await child.kill('SIGKILL');
  await expect.poll(() => activeInvocations(worker)).toBe(0);

  mayFinish.resolve();
  expect(await within(finished.promise, 'the end of the handler')).toBe('finished');
  await worker.settled();
  await expect(worker.trigger({ function_id: 'caller::own', payload: {} })).rejects.toMatchObject({
    code: 'function_not_found',
  });
});

test.each(versions)('%s: shutdown takes the functions away and fails what was waiting', async (version) => {
  await using engine = await startEngine();
  await using observer = connectSdk('0.22.1', engine.url);
  const leaving = connectSdk(version, engine.url, { workerName: 'leaving' });
  leaving.registerFunction('leaving::hang', () => new Promise(() => {}));
  await leaving.settled();
  const outer = observer.trigger({ function_id: 'leaving::hang', payload: {} });
  const inner = leaving.trigger({ function_id: 'leaving::hang', payload: {} });
  const outcomes = Promise.allSettled([outer, inner]);
  await expect.poll(() => activeInvocations(observer, 'leaving')).toBe(2);

  await leaving.shutdown();

  expect(await within(outcomes, 'both failures')).toMatchObject([
    { status: 'rejected', reason: { code: 'invocation_stopped' } },
    { status: 'rejected', reason: { message: 'iii is shutting down' } },
  ]);
  expect(await activeInvocations(observer, 'leaving')).toBeUndefined();
});

function hangingWorker(version: Version, url: string): Child {
  return new Child(`
    import { registerWorker } from '${packageOf[version]}';
    const worker = registerWorker('${url}', { enableMetricsReporting: false });
    worker.registerFunction('child::hang', () => (console.log('called'), new Promise(() => {})));
    await worker.trigger({ function_id: 'engine::workers::list', payload: {} });
    console.log('ready');
  `);
}

/** Calls that the worker of that name is working on; undefined when it is not connected. */
async function activeInvocations(client: SdkClient, name = 'survivor'): Promise<number | undefined> {
  const { workers } = await client.trigger({ function_id: 'engine::workers::list', payload: { search: name } });
  return workers[0]?.active_invocations;
}
