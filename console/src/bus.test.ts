/** The browser's client against a real engine; only the socket has to be provided, because Node 20 lacks it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket as NodeSocket } from 'ws';

import { connect, type Connection } from '../../src/client/index.ts';
import { startEngine, type TestEngine } from '../../src/testing/start-engine.ts';
import { BusClient, CallFailure, type BusState } from './bus.ts';

let running: TestEngine;
let bus: BusClient;
let states: BusState[];
let protocols: string[][];
let sockets: NodeSocket[];
beforeEach(async () => {
  running = await startEngine();
  bus = open();
});
afterEach(async () => {
  bus.close();
  await running[Symbol.asyncDispose]();
});

function open(token?: string): BusClient {
  [states, protocols, sockets] = [[], [], []];
  return new BusClient({
    open(path, offered) {
      if (path === '/') protocols.push(offered);
      const socket = new NodeSocket(running.url + path, offered);
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    token,
    onState: (state) => states.push(state),
  });
}

/** A worker that writes its frames itself, so that errors are spelled as any SDK may. */
function echo(reply: (data: unknown) => object): Promise<NodeSocket> {
  const worker = new NodeSocket(running.url);
  const send = (frame: object) => worker.send(JSON.stringify(frame));
  worker.on('message', (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as { type: string; invocation_id: string; data: unknown };
    if (frame.type === 'cancelinvocation') cancelled.push(frame.invocation_id);
    if (frame.type !== 'invokefunction') return;
    const fields = reply(frame.data);
    if ('result' in fields || 'error' in fields) {
      send({ type: 'invocationresult', invocation_id: frame.invocation_id, ...fields });
    }
  });
  return new Promise((resolve) =>
    worker.on('open', () => {
      const features = { name: 'echo', pid: 1, features: ['cancel'] };
      send({
        type: 'invokefunction',
        function_id: 'engine::workers::register',
        action: { type: 'void' },
        data: features,
      });
      send({ type: 'registerfunction', id: 'echo::echo' });
      resolve(worker);
    }),
  );
}
const cancelled: string[] = [];

const isListed = () =>
  expect.poll(() => bus.call('engine::functions::list').then(JSON.stringify)).toContain('echo::echo');

test('a call made before the connection is open is answered', async () => {
  expect(await bus.call('engine::functions::info', { function_id: 'engine::calls::list' })).toMatchObject({
    function_id: 'engine::calls::list',
    worker_name: 'engine',
  });
  expect(states).toEqual(['connecting', 'open']);
});

test('a failure carries its code and its fix, however deep the wire hides them', async () => {
  const coded = { code: 'D2', message: 'taken', fix: { overwrite: true } };
  const worker = await echo(() => ({
    error: { code: 'invocation_failed', message: `handler error: ${JSON.stringify(coded)}` },
  }));
  await isListed();
  const failed = await bus.call('echo::echo', {}).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(CallFailure);
  expect((failed as CallFailure).fields).toEqual(coded);
  worker.close();
});

test.each(['a deadline', 'an abort'])('%s ends the call here and at the worker', async (what) => {
  cancelled.length = 0;
  const worker = await echo(() => ({}));
  await isListed();
  const control = new AbortController();
  const options = what === 'a deadline' ? { timeoutMs: 100 } : { signal: control.signal };
  const waiting = bus.call('echo::echo', {}, options);
  setTimeout(() => control.abort(), 100);
  await expect(waiting).rejects.toMatchObject({ fields: { code: what === 'a deadline' ? 'TIMEOUT' : 'CANCELLED' } });
  await expect.poll(() => cancelled.length).toBe(1);
  worker.close();
});

test('a lost connection fails what waits, comes back, and serves what was asked meanwhile', async () => {
  const worker = await echo((data) => (data === 'wait' ? {} : { result: data }));
  await isListed();
  const waiting = bus.call('echo::echo', 'wait');
  await bus.call('echo::echo', 'arrived');
  sockets[0]!.terminate();
  await expect(waiting).rejects.toMatchObject({ fields: { code: 'connection_lost' } });

  expect(await bus.call('echo::echo', 'again')).toBe('again');
  expect(states).toEqual(['connecting', 'open', 'lost', 'connecting', 'open']);
  worker.close();
});

test('a token is offered as a subprotocol, safe for a header', async () => {
  bus.close();
  bus = open('öpen/sésame+?');
  await bus.call('engine::workers::list');
  const [[first, second] = []] = protocols;
  expect(first).toBe('workcell');
  const [, encoded = ''] = /^bearer\.([\w-]+)$/.exec(second ?? '') ?? [];
  expect(Buffer.from(encoded, 'base64url').toString()).toBe('öpen/sésame+?');
});

test('a channel is read to its end, or as far as wanted', async () => {
  const peer: Connection = await connect(running.url, {});
  const read = async (maxBytes: number) => {
    const { writer, reader } = await peer.createChannel();
    const end = await peer.openWriter(writer);
    const writing = end
      .write(Buffer.from('hello '))
      .then(() => end.write(Buffer.from('world')))
      .then(() => end.end());
    const bytes = await bus.readChannel(reader, maxBytes);
    await writing.catch(() => {});
    return Buffer.from(bytes).toString();
  };
  expect([await read(100), await read(8)]).toEqual(['hello world', 'hello wo']);
  peer.close();
});

test('a channel that is not there, or breaks off, is a failure and no empty file', async () => {
  const broken = { fields: { code: 'channel_failed' } };
  const nowhere = bus.readChannel({ channel_id: 'no-such', access_key: 'x' }, 100);
  await expect(nowhere).rejects.toMatchObject(broken);

  const peer: Connection = await connect(running.url, {});
  const { writer, reader } = await peer.createChannel();
  await (await peer.openWriter(writer)).write(Buffer.from('hello'));
  const reading = bus.readChannel(reader, 100);
  const socket = sockets.at(-1)!;
  socket.once('message', () => socket.terminate());
  await expect(reading).rejects.toMatchObject(broken);
  peer.close();
});
