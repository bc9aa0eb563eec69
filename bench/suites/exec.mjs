/**
 * Starting programs and reading their output, beside a bare `child_process.spawn` in the same process.
 *
 * Times are those of /bin/true, the program that does nothing, from the call to the result.
 */
import { setTimeout as passed } from 'node:timers/promises';
import { spawn } from 'node:child_process';

import { Children } from '#host';
import { Program } from '../processes.mjs';
import { formatNumber, rate, time } from '../units.mjs';
import { measureFence } from './exec/fence.mjs';
import { measureLive } from './exec/live.mjs';

export const name = 'exec';
export const description = 'Children beside a bare child_process.spawn, in one process and in the same rounds.';

const BARE = 'bare spawn';
const ENV = { PATH: process.env.PATH };
const CACHE_MB = 512;
/** Times a bare spawn. There is none for the pid namespace, where three programs start instead of one. */
const START_LIMITS = { cgroup2: 1.5, cgroup1: 1.5, session: 1.15 };
const PAUSE_MS = 100;
const FLOOD_BYTES = 1_000_000_000;
const CAP_BYTES = 1024 * 1024;

export async function run(harness) {
  const containments = await openContainments();
  try {
    await compareStarts(harness, containments);
    await compareStartsAfterPause(harness, containments);
    await compareStartsWithCache(harness);
    await compareFloods(harness, containments);
    await measureLive(harness, Object.values(containments)[0]);
    await measureFence(harness, Object.values(containments)[0]);
  } finally {
    for (const children of Object.values(containments)) await children.close();
  }
  await measureMemory(harness);
}

/** Every way of holding a job together that works here, best first. */
async function openContainments() {
  const containments = {};
  for (const containment of ['cgroup2', 'cgroup1', 'pid-namespace', 'session']) {
    const opened = await Children.open({ containment }).catch(() => undefined);
    if (opened) containments[containment] = opened;
  }
  return containments;
}

/** bench-exec.X1. One table for each containment: background cleanup of one must not slow the next. */
async function compareStarts(harness, containments) {
  for (const [containment, children] of Object.entries(containments)) {
    const comparison = await harness.compare({
      title: `/bin/true held by ${containment}`,
      base: BARE,
      cases: { [BARE]: startBare, [containment]: () => startOurs(children) },
      rounds: 61,
    });
    const limit = START_LIMITS[containment];
    if (limit === undefined) continue;
    const label = `/bin/true held by ${containment}`;
    atMost(harness, { id: 'X1', label, limit, ratio: comparison.ratio('time', containment, BARE) });
  }
}

/** The kernel moves a process into a group fast only when it did so just before. */
async function compareStartsAfterPause(harness, containments) {
  const [best, children] = Object.entries(containments)[0];
  const comparison = await harness.compare({
    title: `/bin/true after ${PAUSE_MS} ms of silence`,
    base: BARE,
    cases: {
      [BARE]: () => afterPause(startBare),
      [best]: () => afterPause(() => startOurs(children)),
    },
    rounds: 31,
  });
  const label = `/bin/true after a pause, held by ${best}`;
  atMost(harness, { id: 'X1', label, limit: 1.5, ratio: comparison.ratio('time', best, BARE) });
}

/** A fork copies the page tables of its process; a server with a warm index has large ones. */
async function compareStartsWithCache(harness) {
  const OURS = `Children beside ${CACHE_MB} MB`;
  const program = await Program.start(new URL('./exec/cached-server.mjs', import.meta.url), String(CACHE_MB));
  try {
    const comparison = await harness.compare({
      title: `/bin/true from a process that holds ${CACHE_MB} MB of WebAssembly memory`,
      note: 'The bare spawn is that of a process without them.',
      base: BARE,
      cases: { [BARE]: startBare, [OURS]: () => program.request('start') },
      rounds: 31,
    });
    const label = `/bin/true with ${CACHE_MB} MB resident, to a bare spawn without`;
    atMost(harness, { id: 'X1', label, limit: 1.4, ratio: comparison.ratio('time', OURS, BARE) });
  } finally {
    await program.stop();
  }
}

/** bench-exec.X2 */
async function compareFloods(harness, containments) {
  const [best, children] = Object.entries(containments)[0];
  const DRAIN = 'bare pipe drain';
  const comparison = await harness.compare({
    title: '1 GB of output, of which 1 MiB is kept',
    base: DRAIN,
    cases: { [DRAIN]: () => flooded(drainBare), [best]: () => flooded(() => drainOurs(children)) },
    measures: { time: { label: 'time', unit: time }, bytes: { label: 'bytes', unit: rate } },
    rounds: 9,
  });
  const bytesPerSecond = comparison.median('bytes', best);
  harness.bar({
    id: 'X2',
    goal: '1 GB of output at ≥ 1 GB/s',
    measured: `${formatNumber(bytesPerSecond / 1e9)} GB/s`,
    met: bytesPerSecond >= 1e9,
  });
  const ratio = comparison.ratio('time', best, DRAIN);
  atMost(harness, { id: 'X2', label: 'time beside a bare pipe drain', limit: 1.2, ratio });
}

async function measureMemory(harness) {
  const program = await Program.start(new URL('./exec/flooded-server.mjs', import.meta.url), String(CAP_BYTES));
  try {
    const { peakGrowthMb } = await program.request({ bytes: FLOOD_BYTES });
    const measured = `+${formatNumber(peakGrowthMb)} MB`;
    harness.bar({ id: 'X2', goal: '≤ 16 MB more memory at the peak of the flood', measured, met: peakGrowthMb <= 16 });
  } finally {
    await program.stop();
  }
}

function atMost(harness, { id, label, limit, ratio }) {
  harness.bar({ id, goal: `${label}: ≤ ${limit} ×`, measured: `${formatNumber(ratio)} ×`, met: ratio <= limit });
}

function startBare() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/true', [], { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    child.once('error', reject).once('close', () => resolve());
  });
}

async function startOurs(children) {
  const child = await children.start({ argv: ['/bin/true'], env: ENV, maxOutputBytes: CAP_BYTES });
  await child.done;
}

async function afterPause(work) {
  await passed(PAUSE_MS);
  const started = performance.now();
  await work();
  return { time: performance.now() - started };
}

async function flooded(work) {
  const started = performance.now();
  await work();
  const ms = performance.now() - started;
  return { time: ms, bytes: FLOOD_BYTES / (ms / 1000) };
}

function drainBare() {
  return new Promise((resolve, reject) => {
    const child = spawn('head', ['-c', String(FLOOD_BYTES), '/dev/zero'], {
      env: ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let bytes = 0;
    child.stdout.on('data', (chunk) => (bytes += chunk.length));
    child.stderr.resume();
    child
      .once('error', reject)
      .once('close', () => (bytes === FLOOD_BYTES ? resolve() : reject(new Error('lost bytes'))));
  });
}

async function drainOurs(children) {
  const argv = ['head', '-c', String(FLOOD_BYTES), '/dev/zero'];
  const { exitCode, stdout } = await (await children.start({ argv, env: ENV, maxOutputBytes: CAP_BYTES })).done;
  if (exitCode !== 0 || stdout.length !== CAP_BYTES)
    throw new Error(`exit code ${exitCode}, ${stdout.length} bytes kept`);
}
