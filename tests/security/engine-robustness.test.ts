/**
 * Memory that peers cost the engine: idle ones, ones that never read, and ones that come and go.
 *
 * The engine runs in a process of its own, so the figures are its alone. They are printed; the bounds are what the
 * limits promise plus what Node itself needs for it.
 */
import { randomUUID } from 'node:crypto';

import { rounds } from '#testing';
import { deafClient, deafWorker, idle, passing, pausingClient, unfinished } from './peer-crowds.ts';
import { buildEngine, EngineProcess } from './peer-engine-process.ts';
import { Peer } from './peer-socket.ts';

const MiB = 1024 * 1024;
/** Reached only on a busy machine. */
const PATIENCE = { timeout: 40_000, interval: 50 };
const UNFINISHED = process.env.WORKCELL_SOAK ? 150 : 40;
const built = await buildEngine();
afterAll(() => built[Symbol.asyncDispose]());

test.each([
  ['200 idle connections still answer', (engine: EngineProcess) => idle(engine, 200)],
  [`${UNFINISHED} telemetry messages that never end harm nobody`, (engine) => unfinished(engine, UNFINISHED)],
  ['a client that never reads is dropped', deafClient],
  ['a client that stops reading is not read from, and loses nothing when it goes on', pausingClient],
  ['calls to a worker that never reads fail instead of piling up', deafWorker],
  [`${PASSING} peers that come, register, call and vanish leave nothing behind`, (engine) => passing(engine, PASSING)],
])('%s', async (_, attack) => {
  await using engine = await EngineProcess.start(built.folder);
  using first = await Peer.dial(engine.url);
  await first.settled();
  const before = await engine.figures();

  const peers = await Promise.all(Array.from({ length: 200 }, () => Peer.dial(engine.url)));
  const after = await engine.figures();
  report('200 idle connections', before, after);
  expect(after.rss - before.rss).toBeLessThan(32 * MiB);

  const replies = await Promise.all(peers.map((peer) => peer.call('engine::workers::list')));
  expect(replies.map((reply) => reply.result.workers)).toEqual(peers.map(() => []));
  for (const peer of peers) peer.socket.terminate();
});

test(`${UNFINISHED} telemetry messages of 4 MiB that never end cost nothing`, async () => {
  await using engine = await EngineProcess.start(built.folder);
  using neighbours = await Neighbours.at(engine.url);
  const before = await engine.figures();
  const bytes = 4 * MiB;
  const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  head.writeUInt32BE(bytes, 6);
  const all = Buffer.concat([head, Buffer.alloc(bytes - 1)]);
  const sinks: Peer[] = [];
  for (let count = 0; count < UNFINISHED; count++) {
    const sink = await Peer.open(`${engine.url}/otel`);
    await new Promise<void>((written) => sink.raw.write(all, () => written()));
    sinks.push(sink);
  }
  await neighbours.expectUnharmed();
  // Written bytes may still be in transit; leaked ones never go.
  const after = await vi.waitFor(async () => {
    const figures = await engine.figures();
    expect(figures.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * MiB);
    return figures;
  }, 5000);
  report(`${UNFINISHED} unfinished telemetry messages`, before, after);
  expect(after.peakRss - before.rss).toBeLessThan(64 * MiB);
  expect(sinks.filter(({ socket }) => socket.readyState !== socket.OPEN)).toEqual([]);
  for (const sink of sinks) sink.socket.terminate();
});

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

test('a client that never reads is dropped before its results fill the memory', { timeout: 60_000 }, async () => {
  await using engine = await EngineProcess.start(built.folder);
  using neighbours = await Neighbours.at(engine.url);
  using worker = await BigWorker.at(engine.url, 100 * 1024);
  using deaf = await Peer.dial(engine.url);
  await deaf.call('engine::workers::register', { name: 'deaf', pid: 1 });
  const before = await engine.figures();

  deaf.socket.pause();
  sendCalls(deaf, 'big::text', 2_500);
  await vi.waitFor(async () => expect(await neighbours.workerNames()).toEqual([]), PATIENCE);
  await neighbours.expectUnharmed();

  const after = await engine.figures();
  report('2500 results of 100 KiB to a client that never reads', before, after);
  expect(worker.calls).toBeGreaterThan(1_900);
  expect(after.peakRss - before.rss).toBeLessThan(defaultLimits.maxOutboundBytes + 160 * MiB);
  await vi.waitFor(async () => expect((await engine.figures()).arrayBuffers).toBeLessThan(16 * MiB), PATIENCE);
});

test(
  'a client that stops reading is not read from, and loses nothing when it goes on',
  { timeout: 60_000 },
  async () => {
    await using engine = await EngineProcess.start(built.folder);
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
    report(`${taken} of ${sent} calls with 100 KiB results taken from a client that pauses`, before, after);
    expect(taken).toBeGreaterThan(80);
    expect(taken).toBeLessThan(sent);
    expect(after.peakRss - before.rss).toBeLessThan(96 * MiB);

    slow.socket.resume();
    await vi.waitFor(() => expect(slow.frames.length).toBe(sent), PATIENCE);
    expect(slow.frames.every((frame) => frame.result.length === 100 * 1024)).toBe(true);
  },
);

test('calls to a worker that never reads fail instead of piling up', { timeout: 60_000 }, async () => {
  await using engine = await EngineProcess.start(built.folder);
  using neighbours = await Neighbours.at(engine.url);
  using deaf = await Peer.dial(engine.url);
  await deaf.register('deaf::fn');
  using caller = await Peer.dial(engine.url);
  const before = await engine.figures();

  deaf.socket.pause();
  const data = 'x'.repeat(1024 * 1024);
  const calls: string[] = [];
  while (caller.frames.length === 0 && calls.length < 1_000) {
    calls.push(randomUUID());
    caller.send({ type: 'invokefunction', invocation_id: calls.at(-1), function_id: 'deaf::fn', data });
    await caller.settled();
  }
  const after = await engine.figures();
  report(`${calls.length} calls of 1 MiB to a worker that never reads`, before, after);

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
  expect(after.peakRss - before.rss).toBeLessThan(defaultLimits.maxOutboundBytes + 160 * MiB);
  await neighbours.expectUnharmed();
});

test('events and void calls to a worker that never answers are counted and capped', async () => {
  await using engine = await EngineProcess.start(built.folder, { maxCallsInFlight: 100 });
  using mute = await Peer.dial(engine.url);
  await mute.call('engine::workers::register', { name: 'mute', pid: 1 });
  await mute.register('mute::fn');
  using caller = await Peer.dial(engine.url);

  for (let n = 0; n < 1_000; n++) {
    caller.send({ type: 'invokefunction', function_id: 'mute::fn', data: n, action: { type: 'void' } });
  }
  await caller.settled();
  const { workers } = (await caller.call('engine::workers::list')).result;
  expect(workers.map((row: { active_invocations: number }) => row.active_invocations)).toEqual([100]);
});
