/** Calls between peers that do not trust each other: which answer counts, and how an unanswered call ends. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { Peer, type AnyFrame } from './peer-socket.ts';

const isCall = (frame: AnyFrame) => frame.type === 'invokefunction';

/** A worker that takes calls and never answers them, known to lists as `mute`. */
async function muteWorker(url: string, features: string[] = []): Promise<Peer> {
  const peer = await Peer.dial(url);
  await peer.call('engine::workers::register', { name: 'mute', pid: 1, features });
  await peer.register('mute::fn');
  return peer;
}

async function activeCalls(watcher: Peer): Promise<number> {
  const { workers } = (await watcher.call('engine::workers::list')).result;
  return workers.find((row: AnyFrame) => row.name === 'mute').active_invocations;
}

test('a call to a worker that never answers ends when its caller cancels it', async () => {
  await using engine = await startEngine();
  using mute = await muteWorker(engine.url, ['cancel']);
  using caller = await Peer.dial(engine.url);

  caller.send({ type: 'invokefunction', invocation_id: 'mine', function_id: 'mute::fn', data: 1 });
  const { invocation_id } = await mute.next(isCall);
  expect(await activeCalls(caller)).toBe(1);

  caller.send({ type: 'cancelinvocation', invocation_id: 'mine' });
  expect(await mute.next((frame) => frame.type === 'cancelinvocation')).toEqual({
    type: 'cancelinvocation',
    invocation_id,
  });
  expect(await activeCalls(caller)).toBe(0);
});

test('a call that is cancelled by a caller that waits runs until its answer', async () => {
  await using engine = await startEngine();
  using mute = await muteWorker(engine.url, ['cancel']);
  using caller = await Peer.dial(engine.url);
  caller.send({ type: 'invokefunction', invocation_id: 'mine', function_id: 'mute::fn', data: 1 });
  const { invocation_id } = await mute.next(isCall);

  caller.send({ type: 'cancelinvocation', invocation_id: 'mine', wait: true });
  expect(await mute.next((frame) => frame.type === 'cancelinvocation')).toEqual({
    type: 'cancelinvocation',
    invocation_id,
  });
  expect(await activeCalls(caller)).toBe(1);
  mute.send({ type: 'invocationresult', invocation_id, result: 'stopped' });
  expect(await caller.next((frame) => frame.invocation_id === 'mine')).toMatchObject({ result: 'stopped' });
  expect(await activeCalls(caller)).toBe(0);
});

test('a call to a worker that never answers ends when its caller leaves', async () => {
  await using engine = await startEngine();
  using mute = await muteWorker(engine.url, ['cancel']);
  using watcher = await Peer.dial(engine.url);
  const caller = await Peer.dial(engine.url);

  for (let n = 0; n < 3; n++)
    caller.send({ type: 'invokefunction', invocation_id: `${n}`, function_id: 'mute::fn', data: n });
  const taken = [await mute.next(isCall), await mute.next(isCall), await mute.next(isCall)];
  caller.socket.terminate();

  const cancelled = [0, 1, 2].map(() => mute.next((frame) => frame.type === 'cancelinvocation'));
  expect((await Promise.all(cancelled)).map((frame) => frame.invocation_id)).toEqual(
    taken.map((frame) => frame.invocation_id),
  );
  expect(await activeCalls(watcher)).toBe(0);
});

test('a worker that never said it understands cancel is not sent one', async () => {
  await using engine = await startEngine();
  using mute = await muteWorker(engine.url);
  using caller = await Peer.dial(engine.url);

  caller.send({ type: 'invokefunction', invocation_id: 'mine', function_id: 'mute::fn', data: 1 });
  await mute.next(isCall);
  caller.send({ type: 'cancelinvocation', invocation_id: 'mine' });
  await caller.settled();
  await mute.settled();
  expect(mute.frames).toEqual([]);
});

test('an unanswered call ends at the deadline of the engine', async () => {
  await using engine = await startEngine({ limits: { callDeadlineMs: 100 } });
  using mute = await muteWorker(engine.url, ['cancel']);
  using caller = await Peer.dial(engine.url);

  const reply = await caller.call('mute::fn', 1, { invocation_id: 'mine' });
  expect(reply).toEqual({
    type: 'invocationresult',
    invocation_id: 'mine',
    function_id: 'mute::fn',
    error: { code: 'TIMEOUT', message: 'invocation timed out after 100ms: check its effects before you call it again' },
  });
  await mute.next((frame) => frame.type === 'cancelinvocation');
  expect(await activeCalls(caller)).toBe(0);
});

test('a call ends at once when the worker that has it leaves', async () => {
  await using engine = await startEngine();
  const mute = await muteWorker(engine.url);
  using caller = await Peer.dial(engine.url);

  const reply = caller.call('mute::fn', 1, { invocation_id: 'mine' });
  await mute.next(isCall);
  mute.socket.terminate();
  expect(await reply).toEqual({
    type: 'invocationresult',
    invocation_id: 'mine',
    function_id: 'mute::fn',
    error: { code: 'invocation_stopped', message: 'Invocation stopped' },
  });
});

test('a result counts only from the worker that has the call', async () => {
  await using engine = await startEngine();
  using worker = await muteWorker(engine.url);
  using caller = await Peer.dial(engine.url);
  using thief = await Peer.dial(engine.url);

  const invocation_id = randomUUID();
  const reply = caller.call('mute::fn', 1, { invocation_id });
  expect((await worker.next(isCall)).invocation_id).toBe(invocation_id);
  for (const forged of [{ result: 'forged' }, { error: { code: 'forged', message: 'forged' } }]) {
    for (const peer of [thief, caller]) peer.send({ type: 'invocationresult', invocation_id, ...forged });
  }
  await Promise.all([thief.settled(), caller.settled()]);
  worker.send({ type: 'invocationresult', invocation_id, result: 'true' });
  worker.send({ type: 'invocationresult', invocation_id, result: 'said twice' });

  expect(await reply).toEqual({ type: 'invocationresult', invocation_id, result: 'true' });
  await caller.settled();
  expect(caller.frames).toEqual([]);
});

test('a call is cancelled only by the peer that made it', async () => {
  await using engine = await startEngine();
  using worker = await muteWorker(engine.url, ['cancel']);
  using caller = await Peer.dial(engine.url);
  using thief = await Peer.dial(engine.url);

  const invocation_id = randomUUID();
  const reply = caller.call('mute::fn', 1, { invocation_id });
  await worker.next(isCall);
  thief.send({ type: 'cancelinvocation', invocation_id });
  await thief.settled();
  worker.send({ type: 'invocationresult', invocation_id, result: 'still wanted' });
  expect((await reply).result).toBe('still wanted');
});

test.each([
  ['a UUID', randomUUID()],
  ['no UUID', 'call 1'],
  ['the name of a prototype', '__proto__'],
  ['one of 512 characters', 'i'.repeat(512)],
])('two callers with the same invocation id, %s, each get their own answer', async (_, invocation_id) => {
  await using engine = await startEngine();
  using worker = await Peer.dial(engine.url);
  await worker.register('w::fn');
  using one = await Peer.dial(engine.url);
  using two = await Peer.dial(engine.url);

  const replies = Promise.all([
    one.call('w::fn', 'one', { invocation_id }),
    two.call('w::fn', 'two', { invocation_id }),
  ]);
  const calls = [await worker.next(isCall), await worker.next(isCall)];
  expect(calls[0]!.invocation_id).not.toBe(calls[1]!.invocation_id);
  for (const call of calls.toReversed()) {
    worker.send({
      type: 'invocationresult',
      invocation_id: call.invocation_id,
      function_id: 'w::fn',
      result: call.data,
    });
  }
  expect(await replies).toEqual([
    { type: 'invocationresult', invocation_id, function_id: 'w::fn', result: 'one' },
    { type: 'invocationresult', invocation_id, function_id: 'w::fn', result: 'two' },
  ]);
});

const forgeries: [string, (id: string) => string][] = [
  ['as the last key', (id) => `{"x":1,"_caller_worker_id":"${id}"}`],
  ['twice', (id) => `{"_caller_worker_id":1,"_caller_worker_id":"${id}"}`],
  ['with its letters escaped', (id) => `{"\\u005fcaller_worker_id":"${id}"}`],
  ['as something else than a text', (id) => `{"_caller_worker_id":{"id":"${id}"}}`],
];
test.each(forgeries)('a caller cannot say that it is another one, %s', async (_way, payloadOf) => {
  await using engine = await startEngine();
  using worker = await Peer.dial(engine.url);
  await worker.register('guarded::fn');
  using victim = await Peer.dial(engine.url);
  using caller = await Peer.dial(engine.url);
  const [victimId, callerId] = [await idOf(victim, 'victim'), await idOf(caller, 'caller')];

  const head = `{"type":"invokefunction","invocation_id":"${randomUUID()}","function_id":"guarded::fn"`;
  caller.socket.send(`${head},"data":${payloadOf(victimId)}}`);
  const { data } = await worker.next(isCall);
  expect(data._caller_worker_id).toBe(callerId);
  expect(JSON.stringify(data)).not.toContain(victimId);
});

async function idOf(peer: Peer, name: string): Promise<string> {
  await peer.call('engine::workers::register', { name, pid: 1 });
  const { workers } = (await peer.call('engine::workers::list')).result;
  return workers.find((row: AnyFrame) => row.name === name).id;
}

test('a peer cannot take the session of another without its token', async () => {
  await using engine = await startEngine();
  using victim = await muteWorker(engine.url);
  using thief = await Peer.dial(engine.url);
  const [row] = (await thief.call('engine::workers::list')).result.workers;

  for (const reattach_token of [undefined, null, '', row.id, randomUUID()]) {
    thief.send({ type: 'reattach', previous_worker_id: row.id, reattach_token });
  }
  await thief.settled();
  await victim.settled();
  expect((await thief.call('engine::workers::list')).result.workers).toEqual([row]);
});

test('a peer cannot take a function of another or of the engine, nor remove one', async () => {
  await using engine = await startEngine();
  using owner = await Peer.dial(engine.url);
  await owner.register('own::fn');
  owner.answer('own::fn', () => 'the owner');
  using thief = await Peer.dial(engine.url);

  for (const id of ['own::fn', 'engine::functions::list']) {
    thief.send({ type: 'registerfunction', id });
    thief.send({ type: 'unregisterfunction', id });
    expect(await thief.next((frame) => frame.type === 'registrationrejected')).toMatchObject({
      code: 'FUNCTION_NAMESPACE_CONFLICT',
      function_id: id,
    });
  }
  await thief.settled();
  expect((await thief.call('own::fn')).result).toBe('the owner');
  expect((await thief.call('engine::functions::list', { prefix: 'own::' })).result.functions).toHaveLength(1);
});

test('a peer cannot speak for the provider of a trigger type, nor unbind what another bound', async () => {
  await using engine = await startEngine();
  using provider = await Peer.dial(engine.url);
  using binder = await Peer.dial(engine.url);
  using thief = await Peer.dial(engine.url);
  provider.send({ type: 'registertriggertype', id: 'clock', description: '' });
  await provider.settled();
  binder.send({ type: 'registertrigger', id: 't1', trigger_type: 'clock', function_id: 'f', config: { every: 1 } });
  await provider.next((frame) => frame.type === 'registertrigger');

  const refusal = { trigger_type: 'clock', function_id: 'f', error: { code: 'no', message: 'forged' } };
  thief.send({ type: 'triggerregistrationresult', id: 't1', ...refusal });
  thief.send({ type: 'unregistertrigger', id: 't1', trigger_type: 'clock' });
  thief.send({ type: 'unregistertriggertype', id: 'clock' });
  thief.send({ type: 'registertrigger', id: 't1', trigger_type: 'clock', function_id: 'mine', config: {} });
  expect(await thief.next((frame) => frame.type === 'triggerregistrationresult')).toEqual({
    type: 'triggerregistrationresult',
    id: 't1',
    trigger_type: 'clock',
    function_id: 'mine',
    error: { code: 'trigger_registration_failed', message: 'trigger id t1 is in use' },
  });
  await binder.settled();
  const { registered_triggers } = (await thief.call('engine::registered-triggers::list')).result;
  expect(registered_triggers).toMatchObject([{ id: 't1', function_id: 'f', config: { every: 1 } }]);
  expect([...binder.frames, ...provider.frames]).toEqual([]);
});

test('a failure of any kind reaches the caller as a code and a text', async () => {
  await using engine = await startEngine();
  using worker = await Peer.dial(engine.url);
  await worker.register('w::fn');
  using caller = await Peer.dial(engine.url);
  const failWith = async (error: unknown) => {
    const reply = caller.call('w::fn');
    const { invocation_id } = await worker.next(isCall);
    worker.send({ type: 'invocationresult', invocation_id, error });
    return reply;
  };

  const body = { code: 'C', message: 'm' };
  expect((await failWith({ ...body, stacktrace: null })).error).toEqual(body);
  expect((await failWith({ ...body, stacktrace: 'at x', extra: 1 })).error).toEqual({ ...body, stacktrace: 'at x' });
  expect((await failWith('text')).error).toEqual({ code: 'UNKNOWN', message: 'text' });
  expect((await failWith({ code: 7 })).error).toEqual({ code: 'UNKNOWN', message: '{"code":7}' });
  for (const nothing of [null, false, 0, '']) expect((await failWith(nothing)).error || undefined).toBeUndefined();
});

test('a peer that stays silent is taken off the bus, one that answers pings stays', async () => {
  await using engine = await startEngine({ limits: { pingIntervalMs: 100, idleMs: 400 } });
  using alive = await muteWorker(engine.url);
  using silent = await Peer.dial(engine.url, { autoPong: false });
  await silent.call('engine::workers::register', { name: 'silent', pid: 2 });

  expect(await silent.closed).toBe(1006);
  const names = async () => (await alive.call('engine::workers::list')).result.workers.map((row: AnyFrame) => row.name);
  await expect.poll(names).toEqual(['mute']);
});
