/**
 * Crowds of peers at an engine in a process of its own: idle ones, ones that never read, and ones that come and go.
 *
 * Each returns the memory of the engine before and after. Effects are checked here; costs only where a file is
 * run alone, in engine-robustness.budget.test.ts.
 */
import { randomInt, randomUUID } from 'node:crypto';

import { expect } from 'vitest';

import { rounds } from '#testing';
import type { EngineFigures, EngineProcess } from './peer-engine-process.ts';
import { malformedFrames } from './peer-malformed.ts';
import { Neighbours } from './peer-neighbours.ts';
import { Peer } from './peer-socket.ts';

export const MiB = 1024 * 1024;
/** Of the malformed frames: others in each smoke test. */
const ONE_IN = rounds(3, 1, 1);
/** Only ever waited for in full by a machine that has much else to do. */
const PATIENCE = { timeout: 120_000, interval: 50 };

export interface Cost {
  before: EngineFigures;
  after: EngineFigures;
}

/** Connections that say nothing until they ask for a list. */
export async function idle(engine: EngineProcess, count: number): Promise<Cost> {
  using first = await Peer.dial(engine.url);
  await first.settled();
  const before = await engine.figures();

  const peers = await Promise.all(Array.from({ length: count }, () => Peer.dial(engine.url)));
  const after = await engine.figures();

  const replies = await Promise.all(peers.map((peer) => peer.call('engine::workers::list')));
  expect(replies.map((reply) => reply.result.workers)).toEqual(peers.map(() => []));
  for (const peer of peers) peer.socket.terminate();
  return { before, after };
}

/** Telemetry messages of 4 MiB that never end; `settle` is called while they wait. */
export async function unfinished(
  engine: EngineProcess,
  count: number,
  settle?: (before: EngineFigures) => Promise<void>,
): Promise<Cost> {
  using neighbours = await Neighbours.at(engine.url);
  const before = await engine.figures();
  const bytes = 4 * MiB;
  const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  head.writeUInt32BE(bytes, 6);
  const all = Buffer.concat([head, Buffer.alloc(bytes - 1)]);
  const sinks: Peer[] = [];
  for (let sent = 0; sent < count; sent++) {
    const sink = await Peer.open(`${engine.url}/otel`);
    await new Promise<void>((written) => sink.raw.write(all, () => written()));
    sinks.push(sink);
  }
  await neighbours.expectUnharmed();
  await settle?.(before);
  const after = await engine.figures();
  expect(sinks.filter(({ socket }) => socket.readyState !== socket.OPEN)).toEqual([]);
  for (const sink of sinks) sink.socket.terminate();
  return { before, after };
}

/** A worker whose answer is the same big text to every call. It keeps count of them. */
class BigWorker implements Disposable {
  calls = 0;
  readonly #peer: Peer;

  static async at(url: string, bytes: number): Promise<BigWorker> {
    const worker = new BigWorker(await Peer.dial(url), JSON.stringify('x'.repeat(bytes)));
    await worker.#peer.register('big::text');
    return worker;
  }

  private constructor(peer: Peer, result: string) {
    this.#peer = peer;
    peer.socket.on('message', (data) => {
      const { type, invocation_id } = JSON.parse((data as Buffer).toString());
      if (type !== 'invokefunction') return;
      this.calls++;
      peer.socket.send(`{"type":"invocationresult","invocation_id":"${invocation_id}","result":${result}}`);
    });
  }

  [Symbol.dispose](): void {
    this.#peer[Symbol.dispose]();
  }
}

function sendCalls(peer: Peer, functionId: string, count: number, data: unknown = null): void {
  for (let n = 0; n < count; n++) {
    peer.send({ type: 'invokefunction', invocation_id: randomUUID(), function_id: functionId, data });
  }
}

/** A client that never reads the results of its calls is dropped. */
export async function deafClient(engine: EngineProcess, maxOutboundBytes: number): Promise<Cost> {
  const resultBytes = 100 * 1024;
  const fitting = maxOutboundBytes / resultBytes;
  using neighbours = await Neighbours.at(engine.url);
  using worker = await BigWorker.at(engine.url, resultBytes);
  using deaf = await Peer.dial(engine.url);
  await deaf.call('engine::workers::register', { name: 'deaf', pid: 1 });
  const before = await engine.figures();

  deaf.socket.pause();
  sendCalls(deaf, 'big::text', Math.round(fitting * 1.27));
  await expect.poll(() => neighbours.workerNames(), PATIENCE).toEqual([]);
  await neighbours.expectUnharmed();
  expect(worker.calls).toBeGreaterThan(fitting * 0.96);
  return { before, after: await engine.figures() };
}

/** A client that stops reading is not read from, and loses nothing when it resumes. */
export async function pausingClient(engine: EngineProcess): Promise<Cost> {
  using neighbours = await Neighbours.at(engine.url);
  using worker = await BigWorker.at(engine.url, 100 * 1024);
  using slow = await Peer.dial(engine.url);
  const before = await engine.figures();

  slow.socket.pause();
  let sent = 0;
  for (; sent === worker.calls && sent < 1_000; sent += 10) {
    sendCalls(slow, 'big::text', 10);
    for (let n = 0; n < 50 && worker.calls < sent + 10; n++) await neighbours.expectUnharmed();
  }
  const taken = worker.calls;
  const after = await engine.figures();
  expect(taken).toBeGreaterThan(80);
  expect(taken).toBeLessThan(sent);

  slow.socket.resume();
  await expect.poll(() => slow.frames.length, PATIENCE).toBe(sent);
  expect(slow.frames.every((frame) => frame.result.length === 100 * 1024)).toBe(true);
  return { before, after };
}

/** Calls to a worker that never reads fail instead of piling up. */
export async function deafWorker(engine: EngineProcess): Promise<Cost> {
  using neighbours = await Neighbours.at(engine.url);
  using deaf = await Peer.dial(engine.url);
  await deaf.register('deaf::fn');
  using caller = await Peer.dial(engine.url);
  const before = await engine.figures();

  deaf.socket.pause();
  const data = 'x'.repeat(MiB);
  const calls: string[] = [];
  while (caller.frames.length === 0 && calls.length < 1_000) {
    calls.push(randomUUID());
    caller.send({ type: 'invokefunction', invocation_id: calls.at(-1), function_id: 'deaf::fn', data });
    await caller.settled();
  }
  const after = await engine.figures();

  expect(caller.frames).toEqual([
    {
      type: 'invocationresult',
      invocation_id: calls.at(-1),
      function_id: 'deaf::fn',
      error: {
        code: 'channel_send_failed',
        message: expect.stringMatching(/^deaf::fn could not be called: worker \S+ does not read its messages$/),
      },
    },
  ]);
  await neighbours.expectUnharmed();
  return { before, after };
}

/** Peers that come, register, call and vanish leave nothing behind; the cost is that of all but the first 200. */
export async function passing(engine: EngineProcess, count: number): Promise<Cost> {
  using mute = await Peer.dial(engine.url);
  await mute.register('mute::fn');
  await mute.call('engine::workers::register', { name: 'mute', pid: 1 });
  using watcher = await Peer.dial(engine.url);
  const remains = async () => ({
    workers: (await watcher.call('engine::workers::list')).result.workers.map(
      (row: { name: string; active_invocations: number }) => [row.name, row.active_invocations],
    ),
    functions: (await watcher.call('engine::functions::list')).result.functions.map(
      (row: { function_id: string }) => row.function_id,
    ),
    triggers: (await watcher.call('engine::registered-triggers::list', { include_internal: true })).result,
    types: (await watcher.call('engine::triggers::list')).result,
    sockets: (await engine.figures()).resources.filter((kind) => kind === 'TCPSocketWrap').length,
    timers: (await engine.figures()).resources.filter((kind) => kind === 'Timeout').length,
  });
  const cycle = async (n: number) => {
    const peer = await Peer.dial(engine.url);
    peer.send({ type: 'registertriggertype', id: `cycle::type-${n}`, description: '' });
    peer.send({
      type: 'registertrigger',
      id: `trigger-${n}`,
      trigger_type: `cycle::type-${n}`,
      function_id: 'mute::fn',
      config: {},
    });
    peer.send({ type: 'invokefunction', invocation_id: randomUUID(), function_id: 'mute::fn', data: n });
    await peer.call('engine::workers::register', { name: `cycle-${n}`, pid: n, namespace: n % 2 ? 'odd' : 'default' });
    await peer.register(`cycle::fn-${n}`);
    peer.socket.terminate();
    await peer.closed;
  };
  const inTens = async (from: number, to: number) => {
    for (let n = from; n < to; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => cycle(n + i)));
  };

  const clean = await remains();
  expect(clean).toEqual({
    workers: [['mute', 0]],
    functions: ['mute::fn'],
    triggers: { registered_triggers: [] },
    types: { triggers: [] },
    sockets: 2,
    timers: expect.any(Number),
  });
  await inTens(0, 200);
  await expect.poll(remains, PATIENCE).toEqual(clean);
  const before = await engine.figures();
  await inTens(200, 200 + count);
  await expect.poll(remains, PATIENCE).toEqual(clean);
  return { before, after: await engine.figures() };
}

/** One that goes away when the engine breaks the connection off. */
export async function hostilePeer(url: string): Promise<Peer> {
  const peer = await Peer.dial(url);
  peer.socket.on('error', () => peer.socket.terminate());
  return peer;
}

/** Thousands of malformed frames, on a new connection whenever the engine closed the last one, harm only their sender. */
export async function malformed(engine: EngineProcess): Promise<Cost> {
  using neighbours = await Neighbours.at(engine.url);
  const all = malformedFrames();
  expect(all.length).toBeGreaterThan(1_000);
  const turn = randomInt(ONE_IN);
  const frames = all.filter((_, index) => index % ONE_IN === turn);
  const before = await engine.figures();

  let peer: Peer | undefined;
  for (const [index, { data, isBinary }] of frames.entries()) {
    if (peer?.socket.readyState !== peer?.socket.OPEN) peer = undefined;
    peer ??= await hostilePeer(engine.url);
    peer.socket.send(data, { binary: isBinary });
    if (index % 50 === 0) await neighbours.expectUnharmed();
  }
  peer?.socket.terminate();
  await neighbours.expectUnharmed();
  await neighbours.expectListsReadable();
  const after = await engine.figures();

  expect({ isAlive: engine.isAlive, areConnected: neighbours.areConnected, isPolluted: after.isPolluted }).toEqual({
    isAlive: true,
    areConnected: true,
    isPolluted: false,
  });
  return { before, after };
}
