/** Every cap of the engine, reached with small limits: refused beyond it, working below it. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import type { Log, LogFields } from '#contract';
import { startEngine } from '#testing';
import { upgrade } from './peer-http.ts';
import { Peer, type AnyFrame } from './peer-socket.ts';

/** A log whose warnings can be read. */
function keptLog(): Log & { warnings: [string, LogFields | undefined][] } {
  const warnings: [string, LogFields | undefined][] = [];
  return { warnings, debug() {}, info() {}, warn: (...line) => void warnings.push([line[0], line[1]]), error() {} };
}

const list = async (peer: Peer, what: string, request = {}) =>
  (await peer.call(`engine::${what}::list`, request)).result;

test('functions of one connection', async () => {
  const log = keptLog();
  await using engine = await startEngine({ limits: { maxFunctionsPerSession: 2 }, log });
  using greedy = await Peer.dial(engine.url);
  using other = await Peer.dial(engine.url);

  await greedy.register('a', 'b', 'c');
  await other.register('d');
  const { functions } = await list(other, 'functions');
  expect(functions.map((row: AnyFrame) => row.function_id)).toEqual(['a', 'b', 'd']);
  expect(log.warnings).toEqual([
    ['refused a function', { function: 'c', worker: expect.any(String), why: 'more than 2 functions' }],
  ]);

  greedy.send({ type: 'unregisterfunction', id: 'a' });
  await greedy.register('c');
  expect((await list(other, 'functions')).functions.map((row: AnyFrame) => row.function_id)).toEqual(['b', 'c', 'd']);
});

test('triggers and trigger types of one connection', async () => {
  const log = keptLog();
  await using engine = await startEngine({ limits: { maxTriggersPerSession: 1, maxTriggerTypesPerSession: 1 }, log });
  using greedy = await Peer.dial(engine.url);

  for (const id of ['t1', 't2']) greedy.send({ type: 'registertriggertype', id, description: '' });
  await greedy.settled();
  expect((await list(greedy, 'triggers')).triggers.map((row: AnyFrame) => row.id)).toEqual(['t1']);
  expect(log.warnings).toEqual([['refused a trigger type', { type: 't2', worker: expect.any(String) }]]);

  for (const id of ['b1', 'b2'])
    greedy.send({ type: 'registertrigger', id, trigger_type: 't9', function_id: 'f', config: {} });
  expect(await greedy.next((frame) => frame.type === 'triggerregistrationresult')).toEqual({
    type: 'triggerregistrationresult',
    id: 'b2',
    trigger_type: 't9',
    function_id: 'f',
    error: { code: 'trigger_registration_failed', message: 'the engine allows 1 triggers a connection' },
  });
});

test('triggers that outlive their connection', async () => {
  await using engine = await startEngine({ limits: { maxTriggersPerSession: 1 } });
  using peer = await Peer.dial(engine.url);

  const bind = () => peer.call('engine::register_trigger', { trigger_type: 'later', function_id: 'f', config: {} });
  expect((await bind()).error).toBeUndefined();
  expect((await bind()).error).toEqual({
    code: 'limit_reached',
    message: 'the engine allows 1 durable triggers: remove one first',
  });
});

test.each(['config', 'metadata', 'namespace'])('the %s of a trigger that outlives its connection', async (field) => {
  await using engine = await startEngine({ limits: { maxRegistrationBytes: 2_000 } });
  using peer = await Peer.dial(engine.url);

  const bind = (length: number) =>
    peer.call('engine::register_trigger', { trigger_type: 'later', function_id: 'f', [field]: 'x'.repeat(length) });
  expect((await bind(1_500)).error).toBeUndefined();
  expect((await bind(2_000)).error).toEqual({
    code: 'limit_reached',
    message: expect.stringMatching(
      /^the engine allows 2000 bytes in a durable trigger, not 2\d{3}: shorten its config or metadata$/,
    ),
  });
});

test('channels', async () => {
  await using engine = await startEngine({ limits: { maxChannels: 2 } });
  using peer = await Peer.dial(engine.url);

  const create = () => peer.call('engine::channels::create');
  expect([(await create()).error, (await create()).error]).toEqual([undefined, undefined]);
  expect((await create()).error).toEqual({
    code: 'limit_reached',
    message: 'the engine allows 2 open channels: try again when one has closed',
  });
});

test('channels of one connection: with all of 1,000 asked for, the others still have theirs', async () => {
  const share = 100;
  await using engine = await startEngine({ limits: { maxChannels: 1_000, maxChannelsPerSession: share } });
  using greedy = await Peer.dial(engine.url);
  using other = await Peer.dial(engine.url);

  const replies = await Promise.all(Array.from({ length: 1_000 }, () => greedy.call('engine::channels::create')));
  const refused = replies.filter(({ error }) => error !== undefined);
  expect([replies.length - refused.length, refused[0]?.error]).toEqual([
    share,
    { code: 'limit_reached', message: `the engine allows ${share} open channels a connection: end one of them first` },
  ]);
  expect((await other.call('engine::channels::create')).error).toBeUndefined();

  const used = replies.find((reply) => reply.result)!.result;
  for (const [end, dir] of [
    [used.reader, 'read'],
    [used.writer, 'write'],
  ] as const)
    await upgrade(`${engine.url}/ws/channels/${end.channel_id}?key=${end.access_key}&dir=${dir}`);
  await expect.poll(async () => (await greedy.call('engine::channels::create')).error).toBeUndefined();
});

test('a channel without ends is removed at its timeout', async () => {
  await using engine = await startEngine({ limits: { maxChannels: 1, channelTtlMs: 50 } });
  using peer = await Peer.dial(engine.url);

  expect((await peer.call('engine::channels::create')).error).toBeUndefined();
  await expect.poll(async () => (await peer.call('engine::channels::create')).error).toBeUndefined();
});

test('bus.P12 calls of one connection that wait for their answer', async () => {
  await using engine = await startEngine({ limits: { maxCallsInFlight: 2 } });
  using worker = await Peer.dial(engine.url);
  await worker.register('w::fn');
  using greedy = await Peer.dial(engine.url);
  using other = await Peer.dial(engine.url);

  const send = (id: string) =>
    greedy.send({ type: 'invokefunction', invocation_id: id, function_id: 'w::fn', data: id });
  for (const id of ['1', '2', '3']) send(id);
  expect(await greedy.next((frame) => frame.type === 'invocationresult')).toEqual({
    type: 'invocationresult',
    invocation_id: '3',
    function_id: 'w::fn',
    error: { code: 'too_many_calls', message: '2 calls of this connection are still unanswered: wait for some first' },
  });

  worker.answer('w::fn', (call) => call.data);
  expect((await other.call('w::fn', 'other')).result).toBe('other');
  for (const call of worker.frames.filter((frame) => frame.type === 'invokefunction' && frame.data !== 'other')) {
    worker.send({ type: 'invocationresult', invocation_id: call.invocation_id, result: call.data });
  }
  await greedy.next((frame) => frame.invocation_id === '2');
  expect((await greedy.call('w::fn', 'again')).result).toBe('again');
});

test('connections', async () => {
  await using engine = await startEngine({ limits: { maxSessions: 2 } });
  using one = await Peer.dial(engine.url);
  const two = await Peer.dial(engine.url);

  expect(await upgrade(engine.url)).toMatchObject({ status: 503, body: 'the engine holds 2 connections already\n' });
  await one.settled();
  two.socket.terminate();
  await expect.poll(() => Peer.dial(engine.url).then((peer) => peer[Symbol.dispose](), String)).toBeUndefined();
});

test('connections that send telemetry', async () => {
  await using engine = await startEngine({ limits: { maxTelemetrySockets: 1 } });
  const one = await Peer.open(`${engine.url}/otel`);
  expect(await upgrade(`${engine.url}/otel`)).toMatchObject({ status: 503, body: '1 connections send telemetry\n' });
  one.socket.close();
  expect(await one.closed).toBe(1000);
  await expect.poll(async () => (await upgrade(`${engine.url}/otel`)).status).toBe(101);
});

test('the size of a request and of a result', async () => {
  await using engine = await startEngine({ limits: { maxMessageBytes: 10_000 } });
  using worker = await Peer.dial(engine.url);
  await worker.register('w::double');
  worker.answer('w::double', (call) => call.data + call.data);
  using caller = await Peer.dial(engine.url);

  expect((await caller.call('w::double', 'x'.repeat(100))).result).toHaveLength(200);
  const invocation_id = randomUUID();
  expect(await caller.call('w::double', 'x'.repeat(20_000), { invocation_id })).toEqual({
    type: 'invocationresult',
    invocation_id,
    function_id: 'w::double',
    error: {
      code: 'payload_too_large',
      message: expect.stringMatching(/^the request is 20\d{3} bytes; the limit is 10000: use a channel/),
    },
  });
  expect((await caller.call('w::double', 'x'.repeat(9_000))).error).toEqual({
    code: 'payload_too_large',
    message: expect.stringMatching(/^the result is 18\d{3} bytes; the limit is 10000: use a channel/),
  });
  expect((await caller.call('w::double', 'x')).result).toBe('xx');
});

test('bus.P12 the size of a frame: beyond it the connection ends', async () => {
  await using engine = await startEngine({ limits: { maxFrameBytes: 10_000, maxMessageBytes: 5_000 } });
  using greedy = await Peer.dial(engine.url);
  using other = await Peer.dial(engine.url);

  greedy.send({ type: 'ping', padding: 'x'.repeat(20_000) });
  expect(await greedy.closed).toBe(1009);
  await other.settled();
});

test('the size of a registration', async () => {
  const log = keptLog();
  await using engine = await startEngine({ limits: { maxRegistrationBytes: 1_000 }, log });
  using greedy = await Peer.dial(engine.url);
  const big = 'x'.repeat(1_000);

  greedy.send({ type: 'registerfunction', id: 'f', metadata: big });
  greedy.send({ type: 'registertriggertype', id: 't', description: big });
  greedy.send({ type: 'registertrigger', id: 'b', trigger_type: 't', function_id: 'f', config: big });
  await greedy.settled();
  expect(log.warnings).toEqual(
    [
      ['registerfunction', 'f'],
      ['registertriggertype', 't'],
      ['registertrigger', 'b'],
    ].map(([type, id]) => [
      'refused a registration that is too large',
      { type, id, worker: expect.any(String), bytes: expect.any(Number), limit: 1_000 },
    ]),
  );
  expect((await list(greedy, 'functions')).functions).toEqual([]);
  expect((await list(greedy, 'registered-triggers')).registered_triggers).toEqual([]);
});

test('what a peer says of itself', async () => {
  await using engine = await startEngine();
  using vain = await Peer.dial(engine.url);
  const long = 'x'.repeat(1_000);

  await vain.call('engine::workers::register', {
    name: `${long}\u{202e}`,
    description: long,
    runtime: long,
    version: long,
    os: long,
    isolation: long,
    pid: 1,
    features: Array.from({ length: 1_000 }, (_, n) => `feature ${n}`),
  });
  const cut = 'x'.repeat(280);
  expect((await list(vain, 'workers')).workers).toMatchObject([
    { name: cut, description: cut, runtime: cut, version: cut, os: cut, isolation: cut },
  ]);
  const tooLong = await vain.call('engine::workers::register', { namespace: 'n'.repeat(513) });
  expect(tooLong.error).toMatchObject({ code: 'deserialization_error' });
});
