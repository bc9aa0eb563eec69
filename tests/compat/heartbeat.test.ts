/** Keeping connections: pings, pongs, silent peers, and noise that must not end anything. */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { startEngine } from '#testing';
import { connectSdk, versions } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { startProxy } from './support/tcp-proxy.ts';
import { within } from './support/waiting.ts';

const MiB = 1024 * 1024;
const impatient = { pingIntervalMs: 50, idleMs: 800 };

test('the engine pings, and drops a peer that does not answer', async () => {
  await using engine = await startEngine({ limits: impatient });
  await using silent = await RawPeer.connect(engine.url, { autoPong: false });
  silent.send({ type: 'registerfunction', id: 'silent::fn' });
  await within(new Promise((pinged) => silent.socket.once('ping', pinged)), 'a ping');

  expect(await silent.closed()).toBe(1006);
  await using peer = await RawPeer.connect(engine.url);
  expect((await peer.call('silent::fn')).error).toMatchObject({ code: 'function_not_found' });
});

test.concurrent.each(versions)(
  '%s: an idle client that answers pings stays, on the same connection',
  async (version) => {
    await using engine = await startEngine({ limits: impatient });
    await using client = connectSdk(version, engine.url);
    const workerId = async () => {
      const { workers } = await client.trigger({ function_id: 'engine::workers::list', payload: {} });
      return workers[0]?.id;
    };
    await client.settled();
    const before = await workerId();

    await new Promise((later) => setTimeout(later, 2 * impatient.idleMs));

    expect(await workerId()).toBe(before);
  },
);

const large = 20 * MiB;

test.concurrent.each([
  ['request', 1, large],
  ['result', large, 1],
])(
  'a %s that takes longer than idleMs on a slow line is not silence',
  { timeout: 90_000 },
  async (_what, answerBytes, requestBytes) => {
    await using engine = await startEngine({ limits: { pingIntervalMs: 50, idleMs: 3_000 } });
    await using slowLine = await startProxy(engine.server.port, 5 * MiB);
    await using worker = connectSdk('0.22.1', engine.url);
    worker.registerFunction('swap', async ({ bytes }: { bytes: number }) => 'y'.repeat(bytes));
    await worker.settled();
    await using far = connectSdk('0.22.1', slowLine.url);

    const payload = { bytes: answerBytes, text: 'x'.repeat(requestBytes) };
    const result = await far.trigger({ function_id: 'swap', payload, timeoutMs: 60_000 });

    expect(result.length).toBe(answerBytes);
  },
);

test('a WebSocket ping is answered with the same bytes', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  const pong = new Promise((heard) => peer.socket.once('pong', heard));

  peer.socket.ping('abc');

  expect(String(await within(pong, 'the pong'))).toBe('abc');
});

test('a JSON ping is answered with a JSON pong', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);

  peer.send({ type: 'ping' });

  expect(await peer.next('pong')).toEqual({ type: 'pong' });
});

test.each([
  ['a blank frame', ''],
  ['white space', ' \n\t '],
  ['something that is not JSON', '{"type":'],
  ['JSON that is not an object', '[1,2]'],
  ['an unknown type', '{"type":"frobnicate","id":1}'],
  ['a frame without its id', '{"type":"registerfunction"}'],
  ['a frame with a field of the wrong type', '{"type":"invokefunction","function_id":7,"data":{}}'],
  ['a service, as clients before 0.12 send it', '{"type":"registerservice","id":"s","name":"s"}'],
  ['what only the engine sends', '{"type":"workerregistered","worker_id":"x"}'],
])('%s is passed over without an answer', async (_what, frame) => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  await peer.next('workerregistered');

  peer.send(frame);

  expect(await peer.call('engine::workers::list')).toMatchObject({ result: { workers: [] } });
  expect(peer.inbox).toEqual([]);
});

test('unknown fields and null for absent ones do no harm', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  peer.send({ type: 'registerfunction', id: 'odd::fn', message_type: 'registerfunction', description: null, x: {} });

  const call = peer.call('odd::fn', { n: 1 }, { action: null, metadata: null, namespace: null, traceparent: null });
  const { invocation_id, function_id, data } = await peer.next('invokefunction');
  peer.send({ type: 'invocationresult', invocation_id, function_id, result: data, error: null, extra: 1 });

  expect(await call).toMatchObject({ result: { n: 1 } });
});

test('the greeting names the connection and its token', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

  expect(await peer.next('workerregistered')).toEqual({
    type: 'workerregistered',
    worker_id: uuid,
    reattach_token: uuid,
    features: ['cancel'],
  });
});

test('another path is refused with 404, and the bus offers no compression', async () => {
  await using engine = await startEngine();
  const socket = new WebSocket(`${engine.url}/elsewhere`);
  const status = new Promise((answer) =>
    socket.once('unexpected-response', (request, response) => {
      answer(response.statusCode);
      request.destroy();
    }),
  );
  socket.on('error', () => {});

  expect(await within(status, 'the refusal')).toBe(404);
  await using peer = await RawPeer.connect(engine.url, { perMessageDeflate: true });
  expect(peer.socket.extensions).toBe('');
});
