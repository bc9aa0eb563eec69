/**
 * Memory of the engine under crowds of peers.
 *
 * The engine runs in a process of its own, so the figures are its alone. They are printed; the bounds are what the
 * limits promise plus what Node itself needs for it.
 */
import { expect, test } from 'vitest';

import { defaultLimits } from '#engine';
import { rounds } from '#testing';
import {
  deafClient,
  deafWorker,
  idle,
  malformed,
  MiB,
  passing,
  pausingClient,
  unfinished,
  type Cost,
} from './peer-crowds.ts';
import { EngineProcess } from './peer-engine-process.ts';

const UNFINISHED = rounds(40, 40, 150);
const PATIENCE = { timeout: 40_000, interval: 50 };

function report(what: string, { before, after }: Cost): void {
  const spell = (bytes: number) => `${(bytes / MiB).toFixed(1)} MiB`;
  const peak = spell(after.peakRss - before.rss);
  console.log(
    `${what}: ${spell(before.rss)} resident before, ${spell(after.rss)} after, at most ${peak} more; heap ${spell(after.heapUsed - before.heapUsed)} more`,
  );
}

test('bus.P12 200 idle connections cost little', async () => {
  await using engine = await EngineProcess.start();
  const cost = await idle(engine, 200);
  report('200 idle connections', cost);
  expect(cost.after.rss - cost.before.rss).toBeLessThan(32 * MiB);
});

test(`${UNFINISHED} telemetry messages of 4 MiB that never end cost nothing`, async () => {
  await using engine = await EngineProcess.start();
  // Written bytes may still be in transit; leaked ones stay.
  const cost = await unfinished(engine, UNFINISHED, async ({ arrayBuffers }) => {
    const growth = async () => (await engine.figures()).arrayBuffers - arrayBuffers;
    await expect.poll(growth, PATIENCE).toBeLessThan(4 * MiB);
  });
  report(`${UNFINISHED} unfinished telemetry messages`, cost);
  expect(cost.after.peakRss - cost.before.rss).toBeLessThan(64 * MiB);
});

test('bus.P12 a client that never reads is dropped before its results fill the memory', async () => {
  await using engine = await EngineProcess.start();
  const cost = await deafClient(engine, defaultLimits.maxOutboundBytes);
  report('2500 results of 100 KiB to a client that never reads', cost);
  expect(cost.after.peakRss - cost.before.rss).toBeLessThan(defaultLimits.maxOutboundBytes + 160 * MiB);
  await expect.poll(async () => (await engine.figures()).arrayBuffers, PATIENCE).toBeLessThan(16 * MiB);
});

test('a client that stops reading costs what may wait for it', async () => {
  await using engine = await EngineProcess.start();
  const cost = await pausingClient(engine);
  report('calls with 100 KiB results taken from a client that pauses', cost);
  expect(cost.after.peakRss - cost.before.rss).toBeLessThan(96 * MiB);
});

test('calls to a worker that never reads cost what may wait for it', async () => {
  await using engine = await EngineProcess.start();
  const cost = await deafWorker(engine);
  report('calls of 1 MiB to a worker that never reads', cost);
  expect(cost.after.peakRss - cost.before.rss).toBeLessThan(defaultLimits.maxOutboundBytes + 160 * MiB);
});

test('1,000 peers that come, register, call and vanish leave nothing in memory', async () => {
  await using engine = await EngineProcess.start();
  const cost = await passing(engine, 1_000);
  report('1,000 peers that came and went', cost);
  expect(cost.after.heapUsed - cost.before.heapUsed).toBeLessThan(4 * MiB);
});

test('thousands of malformed frames leave little in memory', async () => {
  await using engine = await EngineProcess.start();
  const cost = await malformed(engine);
  report('malformed frames', cost);
  expect(cost.after.rss - cost.before.rss).toBeLessThan(128 * MiB);
});
