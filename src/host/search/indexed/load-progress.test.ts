import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { LoadPause } from './load-pause.ts';
import { LoadProgress } from './load-progress.ts';

const LONG_MS = 100_000;
const until = (signal = new AbortController().signal) => signal;

async function isWaiting(waiting: Promise<void>): Promise<boolean> {
  let hasEnded = false;
  void waiting.then(() => (hasEnded = true));
  await nextTurn();
  return !hasEnded;
}

test('a search waits for a load that takes no longer than a few searches, and until it has ended', async () => {
  const load = new LoadProgress();
  load.note({ files: 500, ms: 2.9 * LONG_MS });
  expect(await isWaiting(load.endsSoon(until()))).toBe(false);
  load.noteReading(1000, LONG_MS);
  const waiting = load.endsSoon(until());
  expect(await isWaiting(waiting)).toBe(true);
  load.end();
  expect(await isWaiting(waiting)).toBe(false);
});

test('a search does not wait for a load that takes longer, nor for one that has not begun', async () => {
  const load = new LoadProgress();
  load.noteReading(1000, LONG_MS);
  expect(await isWaiting(load.endsSoon(until()))).toBe(false);
  load.note({ files: 500, ms: 3.1 * LONG_MS });
  expect(await isWaiting(load.endsSoon(until()))).toBe(false);
});

test('a search waits no longer than estimated, and not after its caller cancelled', async () => {
  const load = new LoadProgress();
  load.noteReading(1000, 1);
  load.note({ files: 999, ms: 1 });
  await load.endsSoon(until());

  load.noteReading(1000, LONG_MS);
  const control = new AbortController();
  const waiting = load.endsSoon(until(control.signal));
  control.abort(new Error('no longer'));
  await expect(waiting).rejects.toThrow('no longer');
});

test('loading pauses while searches read files, up to a limit', () => {
  const readers = new Int32Array(new SharedArrayBuffer(4));
  const pause = new LoadPause(readers, 20);
  pause.wait();
  expect(pause.pausedMs).toBe(0);
  readers[0] = 1;
  pause.wait();
  const { pausedMs } = pause;
  expect(pausedMs).not.toBe(0);
  pause.wait();
  expect(pause.pausedMs).toBe(pausedMs);
});

test('loading resumes as soon as the last search has read its files', async () => {
  const readers = new Int32Array(new SharedArrayBuffer(4));
  readers[0] = 1;
  const search = new Worker(
    'const { workerData } = require("node:worker_threads"); Atomics.store(workerData, 0, 0); Atomics.notify(workerData, 0);',
    { eval: true, workerData: readers },
  );
  // `wait` blocks this thread until then; without the notify the test would time out.
  new LoadPause(readers, LONG_MS).wait();
  expect(Atomics.load(readers, 0)).toBe(0);
  await search.terminate();
});
