/** Effects of crowds of peers on the engine and on each other. Their memory: engine-robustness.budget.test.ts. */
import { expect, test, vi } from 'vitest';

import { defaultLimits } from '#engine';
import { rounds } from '#testing';
import { deafClient, deafWorker, idle, MiB, passing, pausingClient, unfinished } from './peer-crowds.ts';
import { EngineProcess } from './peer-engine-process.ts';
import { Peer } from './peer-socket.ts';

vi.setConfig({ testTimeout: 300_000 });

const UNFINISHED = rounds(10, 40, 150);
const PASSING = rounds(200, 1_000, 1_000);
/** Bytes that wait for a peer that does not read: filling as much as is shipped takes the processor three seconds. */
const maxOutboundBytes = rounds(24 * MiB, defaultLimits.maxOutboundBytes, defaultLimits.maxOutboundBytes);

test.each([
  ['200 idle connections still answer', (engine: EngineProcess) => idle(engine, 200)],
  [`${UNFINISHED} telemetry messages that never end harm no other client`, (engine) => unfinished(engine, UNFINISHED)],
  ['a client that never reads is dropped', (engine) => deafClient(engine, maxOutboundBytes)],
  ['a client that stops reading is not read from, and loses nothing when it resumes', pausingClient],
  ['calls to a worker that never reads fail instead of piling up', deafWorker],
  [`${PASSING} peers that come, register, call and vanish leave nothing behind`, (engine) => passing(engine, PASSING)],
])('bus.P12 %s', async (_, attack) => {
  await using engine = await EngineProcess.start({ maxOutboundBytes });
  await attack(engine);
});

test('events and void calls to a worker that never answers are counted and capped', async () => {
  await using engine = await EngineProcess.start({ maxCallsInFlight: 100 });
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
