/** Fields that the engine forwards unread: trace context, metadata, unusual ids. And the one it reads: namespaces. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, versions } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { deferred, within } from './support/waiting.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const baggage = 'userId=alice,serverNode=DF%2028,isProduction=false;note="a b"';

test('bus.P11 trace context and metadata arrive unchanged at the worker, and its trace context at the caller', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'traced::fn' });
  await worker.call('engine::workers::list');
  const invocation_id = crypto.randomUUID();
  const metadata = { tenant: 'acme', list: [1, null, { deep: true }] };
  const invoke = { type: 'invokefunction', invocation_id, function_id: 'traced::fn', data: { n: 1 } };

  caller.send({ ...invoke, traceparent, baggage, metadata });
  expect(await worker.next('invokefunction')).toEqual({ ...invoke, traceparent, baggage, metadata });

  const answer = { type: 'invocationresult', invocation_id, function_id: 'traced::fn', result: { ok: true } };
  const back = { traceparent: traceparent.replace('4736', '4737'), baggage: 'seen=yes' };
  worker.send({ ...answer, ...back });
  expect(await caller.next('invocationresult')).toEqual({ ...answer, ...back });
});

test('trace context survives where the engine has to rewrite the frame: void calls and failures', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'traced::fn' });
  await worker.call('engine::workers::list');
  const invoke = { type: 'invokefunction', function_id: 'traced::fn', traceparent, baggage, metadata: 7 };

  caller.send({ ...invoke, data: 1, action: { type: 'void' } });
  expect(await worker.next('invokefunction')).toEqual({ ...invoke, data: 1, invocation_id: expect.any(String) });

  const invocation_id = crypto.randomUUID();
  caller.send({ ...invoke, invocation_id });
  expect(await worker.next('invokefunction')).toEqual({ ...invoke, data: null, invocation_id });
  const failure = { type: 'invocationresult', invocation_id, function_id: 'traced::fn' };
  worker.send({ ...failure, error: { code: 'E', message: 'no' }, traceparent, baggage });
  expect(await caller.next('invocationresult')).toEqual({
    ...failure,
    error: { code: 'E', message: 'no' },
    traceparent,
    baggage,
  });
});

test('a result gets the trace context of its call where the worker sent none', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'traced::fn' });
  await worker.call('engine::workers::list');
  const trace = { traceparent, baggage };
  const answers: [object, object][] = [
    [{ result: { ok: '}' } }, { result: { ok: '}' }, ...trace }],
    [
      { result: 1, baggage: 'own=1' },
      { result: 1, traceparent, baggage: 'own=1' },
    ],
    [
      { result: 1, traceparent: null },
      { result: 1, ...trace },
    ],
    [{ result: null }, trace],
    [{ error: { code: 'E', message: 'no' } }, { error: { code: 'E', message: 'no' }, ...trace }],
  ];
  for (const [sent, expected] of answers) {
    const waiting = caller.call('traced::fn', {}, trace);
    const { invocation_id } = await worker.next('invokefunction');
    const answer = { type: 'invocationresult', invocation_id, function_id: 'traced::fn' };
    worker.send(`${JSON.stringify({ ...answer, ...sent })}\n`);
    expect(await waiting).toEqual({ ...answer, ...expected });
  }
  expect(await caller.call('engine::functions::list', {}, trace)).toMatchObject(trace);
  expect(await caller.call('no::such', {}, trace)).toMatchObject({ error: { code: 'function_not_found' }, ...trace });
});

test('a null result is left out', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'null::fn' });
  await worker.call('engine::workers::list');
  const waiting = caller.call('null::fn');
  const { invocation_id } = await worker.next('invokefunction');
  worker.send({ type: 'invocationresult', invocation_id, function_id: 'null::fn', result: null });

  expect(await waiting).toEqual({ type: 'invocationresult', invocation_id, function_id: 'null::fn' });
});

test('a call whose id is not a UUID, or one in use, is answered under that id', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using one = await RawPeer.connect(engine.url);
  await using two = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'id::fn' });
  await worker.call('engine::workers::list');
  const invoke = (invocation_id: string, data: string) =>
    JSON.stringify({ type: 'invokefunction', invocation_id, function_id: 'id::fn', data });
  const shared = crypto.randomUUID();

  one.send(invoke(shared, 'from one'));
  const first = await worker.next('invokefunction');
  two.send(invoke(shared, 'from two'));
  two.send(invoke('not a uuid', 'odd'));
  const others = [await worker.next('invokefunction'), await worker.next('invokefunction')];
  for (const { invocation_id, data } of [first, ...others].toReversed()) {
    worker.send({ type: 'invocationresult', invocation_id, function_id: 'id::fn', result: data });
  }

  expect(await one.next('invocationresult')).toMatchObject({ invocation_id: shared, result: 'from one' });
  expect(await two.next('invocationresult')).toMatchObject({ invocation_id: 'not a uuid', result: 'odd' });
  expect(await two.next('invocationresult')).toMatchObject({ invocation_id: shared, result: 'from two' });
});

test('a function in another namespace is found with the namespace only, and the refusal says where it is', async () => {
  await using engine = await startEngine();
  await using worker = await RawPeer.connect(engine.url);
  await using caller = await RawPeer.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'blue::before' });
  await worker.call('engine::workers::register', { name: 'blue', pid: 1, namespace: 'blue' });
  worker.send({ type: 'registerfunction', id: 'blue::after' });
  await worker.call('engine::workers::list');

  const errorOf = async (id: string, namespace?: string) => (await caller.call(id, {}, { namespace })).error;
  for (const id of ['blue::before', 'blue::after']) {
    expect(await errorOf(id)).toEqual({
      code: 'function_not_found',
      message: expect.stringMatching(
        new RegExp(`^Function ${id} not found.* It is registered in namespace\\(s\\): blue\\.$`),
      ),
    });
    const call = caller.call(id, { n: 1 }, { namespace: 'blue' });
    const { invocation_id, ...invoke } = await worker.next('invokefunction');
    expect(invoke).toEqual({ type: 'invokefunction', function_id: id, data: { n: 1 } });
    worker.send({ type: 'invocationresult', invocation_id, function_id: id, result: 'found' });
    expect(await call).toMatchObject({ result: 'found' });
  }
  expect(await errorOf('blue::after', 'green')).toEqual({
    code: 'function_not_found',
    message: 'Function blue::after not found in namespace green. It is registered in namespace(s): blue.',
  });
  expect(await errorOf('blue::after', '  ')).toMatchObject({ code: 'INVALID_NAMESPACE' });
});

test('lists say the namespace, and the same id may live in two of them', async () => {
  await using engine = await startEngine();
  await using blue = await RawPeer.connect(engine.url);
  await using plain = await RawPeer.connect(engine.url);
  await blue.call('engine::workers::register', { name: 'blue', pid: 1, namespace: 'blue' });
  for (const peer of [blue, plain]) peer.send({ type: 'registerfunction', id: 'shared::fn' });
  await blue.call('engine::workers::list');

  const { result } = await plain.call('engine::functions::list');

  expect(result.functions).toMatchObject([
    { function_id: 'shared::fn', namespace: 'blue', worker_name: 'blue' },
    { function_id: 'shared::fn', namespace: 'default', worker_name: 'shared' },
  ]);
  expect([...blue.inbox, ...plain.inbox].map(({ type }) => type)).toEqual(['workerregistered', 'workerregistered']);
});

test.each(versions)(
  '%s: a binary frame of JSON is a frame, and telemetry on the main socket is discarded',
  async (version) => {
    await using engine = await startEngine();
    await using worker = connectSdk(version, engine.url);
    await using peer = await RawPeer.connect(engine.url);
    const seen = deferred<unknown>();
    worker.registerFunction('binary::fn', async (input: unknown) => seen.resolve(input));
    await worker.settled();

    for (const prefix of ['OTLP', 'MTRC', 'LOGS']) peer.socket.send(Buffer.from(`${prefix}{"resourceSpans":[]}`));
    const frame = { type: 'invokefunction', function_id: 'binary::fn', data: 'bits', action: { type: 'void' } };
    peer.socket.send(Buffer.from(JSON.stringify(frame)));

    expect(await within(seen.promise, 'the call')).toBe('bits');
  },
);
