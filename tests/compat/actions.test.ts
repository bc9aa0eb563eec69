/** Timeouts, fire-and-forget calls and the queue this engine does not have. */
import { TriggerAction } from 'iii-sdk';
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, pairs, versions } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { deferred, within } from './support/waiting.ts';

test.each(pairs)('a %s handler finishes although its %s caller timed out', async (workerVersion, callerVersion) => {
  await using engine = await startEngine();
  await using worker = connectSdk(workerVersion, engine.url);
  await using caller = connectSdk(callerVersion, engine.url);
  const mayFinish = deferred();
  const finished = deferred<string>();
  worker.registerFunction('slow::work', async () => {
    await mayFinish.promise;
    finished.resolve('all done');
    return 'late';
  });
  worker.registerFunction('quick::work', async () => 'quick');
  await worker.settled();

  const call = caller.trigger({ function_id: 'slow::work', payload: {}, timeoutMs: 100 });
  await expect(call).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'TIMEOUT: invocation timed out after 100ms',
    function_id: 'slow::work',
  });

  mayFinish.resolve();
  expect(await within(finished.promise, 'the end of the handler')).toBe('all done');
  await worker.settled();
  expect(await caller.trigger({ function_id: 'quick::work', payload: {} })).toBe('quick');
});

test.each(pairs)('a void call to a %s handler returns undefined to a %s caller at once', async (...pair) => {
  await using engine = await startEngine();
  await using worker = connectSdk(pair[0], engine.url);
  await using caller = connectSdk(pair[1], engine.url);
  const seen = deferred<unknown>();
  worker.registerFunction('quiet::note', async (input: unknown) => {
    seen.resolve(input);
    throw new Error('not delivered');
  });
  await worker.settled();

  const answer = await caller.trigger({
    function_id: 'quiet::note',
    payload: { n: 1 },
    action: TriggerAction.Void(),
  });

  expect(answer).toBeUndefined();
  expect(await within(seen.promise, 'the void call')).toEqual({ n: 1 });
});

test.each(versions)('%s: a void call to a missing function is not a failure', async (version) => {
  await using engine = await startEngine();
  await using caller = connectSdk(version, engine.url);

  const answer = await caller.trigger({ function_id: 'no::such', payload: {}, action: TriggerAction.Void() });

  expect(answer).toBeUndefined();
  await caller.settled();
});

test('a void call gets no answer, whether the function exists or not', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'quiet::note' });
  await worker.call('engine::workers::list');

  caller.send({ type: 'invokefunction', function_id: 'no::such', data: {}, action: { type: 'void' } });
  caller.send({ type: 'invokefunction', function_id: 'quiet::note', data: 1, action: { type: 'void' } });
  const { invocation_id, ...call } = await worker.next('invokefunction');
  expect(call).toEqual({ type: 'invokefunction', function_id: 'quiet::note', data: 1 });

  worker.send({ type: 'invocationresult', invocation_id, function_id: 'quiet::note', result: 'unheard' });
  await worker.call('engine::workers::list');
  await caller.call('engine::workers::list');
  expect(caller.inbox.map(({ type }) => type)).toEqual(['workerregistered']);
});

test.each(versions)('%s: enqueue says that there is no queue, and does not run the function', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  let runs = 0;
  client.registerFunction('queued::work', async () => (runs += 1));

  const call = client.trigger({
    function_id: 'queued::work',
    payload: {},
    action: TriggerAction.Enqueue({ queue: 'jobs' }),
  });

  await expect(call).rejects.toMatchObject({
    code: 'enqueue_error',
    message:
      'enqueue_error: no queue provider is installed, so queued::work was not put on queue "jobs": ' +
      'call it without the enqueue action, or start a worker that offers engine::queue::enqueue',
  });
  expect(runs).toBe(0);
});

test.each(versions)('%s: enqueue calls the worker that offers queues and answers with the receipt', async (version) => {
  await using engine = await startEngine();
  await using queues = connectSdk(version, engine.url);
  await using client = connectSdk(version, engine.url);
  const taken: Record<string, unknown>[] = [];
  queues.registerFunction('engine::queue::enqueue', async ({ _caller_worker_id: _, ...message }) => {
    taken.push(message);
    if (message.queue === 'full') throw new Error('no room');
    return { accepted: true };
  });
  await queues.settled();
  const enqueue = (queue: string) =>
    client.trigger({
      function_id: 'none::serves-this-yet',
      payload: { n: 1 },
      action: TriggerAction.Enqueue({ queue }),
    });

  const receipt = await enqueue('jobs');
  expect(receipt).toEqual({ messageReceiptId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(taken).toEqual([
    {
      queue: 'jobs',
      function_id: 'none::serves-this-yet',
      data: { n: 1 },
      messageReceiptId: receipt.messageReceiptId,
      traceparent: null,
      baggage: null,
    },
  ]);
  await expect(enqueue('full')).rejects.toMatchObject({
    code: 'enqueue_error',
    message: expect.stringContaining('no room'),
  });
});

test('a call is put on a queue with its namespace and its trace', async () => {
  await using engine = await startEngine();
  await using queues = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  queues.send({ type: 'registerfunction', id: 'engine::queue::enqueue' });
  await queues.call('engine::workers::list');

  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', baggage: 'k=v' };
  const more = { action: { type: 'enqueue', queue: 'q' }, namespace: 'blue', ...trace };
  const waiting = caller.call('work::do', [1], more);
  const { invocation_id, ...call } = await queues.next('invokefunction');
  const message = { queue: 'q', function_id: 'work::do', data: [1], namespace: 'blue', ...trace };
  expect(call).toMatchObject({ function_id: 'engine::queue::enqueue', data: message, ...trace });
  queues.send({ type: 'invocationresult', invocation_id, function_id: 'engine::queue::enqueue', result: 7 });
  expect(await waiting).toMatchObject({
    function_id: 'work::do',
    result: { messageReceiptId: call.data.messageReceiptId },
  });
});

test('results without a waiting caller are ignored: unknown, repeated and from a peer that was not asked', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using stranger = await RawPeer.connect(engine.url);
  await using caller = connectSdk('0.22.1', engine.url);
  worker.send({ type: 'registerfunction', id: 'asked::once' });
  await worker.call('engine::workers::list');

  const call = caller.trigger({ function_id: 'asked::once', payload: {} });
  const { invocation_id } = await worker.next('invokefunction');
  const result = (value: string, id: unknown = invocation_id) => ({
    type: 'invocationresult',
    invocation_id: id,
    function_id: 'asked::once',
    result: value,
  });
  stranger.send(result('forged'));
  await stranger.call('engine::workers::list');
  worker.send(result('unknown', crypto.randomUUID()));
  worker.send(result('true'));
  worker.send(result('again'));

  expect(await call).toBe('true');
  await worker.call('engine::workers::list');
  await caller.settled();
});
