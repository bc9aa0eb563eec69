/** Output of a command while it runs: latency of a line, throughput of the ring, and costs of a terminal. */
import { spawn } from 'node:child_process';

import { connect } from '#client';
import { OutputRing } from '#host';
import { Program } from '../../processes.mjs';
import { median } from '../../statistics.mjs';
import { formatMs, formatNumber, rate, time } from '../../units.mjs';

const RING_BYTES = 1_000_000_000;
const CHUNK_BYTES = 65_536;
const LINES = 50;
/** Prints the time, every 5 ms. */
const CLOCK = `let n = 0; const i = setInterval(() => {
  process.stdout.write(performance.timeOrigin + performance.now() + '\\n'); if (++n === ${LINES}) clearInterval(i); }, 5)`;

export async function measureLive(harness, children) {
  await measureRing(harness);
  await compareTerminals(harness, children);
  await compareLines(harness);
}

async function measureRing(harness) {
  const [COPY, RING] = ['bare copy', 'ring of 1 MiB'];
  const chunk = Buffer.alloc(CHUNK_BYTES, 'x');
  const block = Buffer.alloc(2 ** 20);
  const comparison = await harness.compare({
    title: `1 GB into a ring, in chunks of ${CHUNK_BYTES} bytes of both streams in turn`,
    base: COPY,
    cases: {
      [COPY]: () => taking((at) => block.set(chunk, at % block.length)),
      [RING]() {
        const ring = new OutputRing(block.length);
        return taking((_, n) => ring.add(n % 2 === 0 ? 'stdout' : 'stderr', chunk));
      },
    },
    measures: { bytes: { label: 'bytes', unit: rate } },
    rounds: 9,
  });
  const bytes = comparison.median('bytes', RING);
  harness.bar({ id: 'X3', goal: 'ring ≥ 1 GB/s', measured: `${formatNumber(bytes / 1e9)} GB/s`, met: bytes >= 1e9 });
}

function taking(add) {
  const started = performance.now();
  for (let at = 0, n = 0; at < RING_BYTES; at += CHUNK_BYTES) add(at, n++);
  return { bytes: RING_BYTES / ((performance.now() - started) / 1000) };
}

async function compareTerminals(harness, children) {
  const [PIPES, TERMINAL] = ['pipes', 'terminal'];
  const start = async (more) => {
    const work = await children.start({
      argv: ['/bin/true'],
      env: { PATH: process.env.PATH },
      maxOutputBytes: 1,
      ...more,
    });
    await work.done;
  };
  const terminal = { columns: 80, rows: 24 };
  const comparison = await harness.compare({
    title: '/bin/true with pipes and in a terminal',
    base: PIPES,
    cases: { [PIPES]: () => start({}), [TERMINAL]: () => start({ terminal }) },
    rounds: 61,
  });
  const added = comparison.median('time', TERMINAL) - comparison.median('time', PIPES);
  harness.bar({ id: 'X7', goal: 'terminal ≤ pipes + 2 ms', measured: `+${formatMs(added)}`, met: added <= 2 });
}

async function compareLines(harness) {
  const [PIPE, BUS] = ['bare pipe', 'shell::attach'];
  const program = await Program.start(new URL('./live-server.mjs', import.meta.url));
  const bus = await connect(program.ready.url, { name: 'bench' });
  try {
    const comparison = await harness.compare({
      title: `a line of a program, from its write to its reader`,
      note: 'The reader is a peer on a socket; the server has a process of its own.',
      base: PIPE,
      cases: { [PIPE]: pipedLines, [BUS]: () => attachedLines(bus) },
      measures: { late: { label: 'late', unit: time } },
      rounds: 15,
    });
    const added = comparison.median('late', BUS) - comparison.median('late', PIPE);
    harness.bar({
      id: 'X8',
      goal: 'a line through the bus ≤ bare pipe + 1 ms',
      measured: `+${formatMs(added)}`,
      met: added <= 1,
    });
  } finally {
    bus.close();
    await program.stop();
  }
}

async function pipedLines() {
  const child = spawn(process.execPath, ['-e', CLOCK], { stdio: ['ignore', 'pipe', 'inherit'] });
  return latenessOf(child.stdout);
}

async function attachedLines(bus) {
  const request = { command: process.execPath, args: ['-e', CLOCK] };
  const { job_id } = await bus.call('shell::exec_bg', request);
  const { reader } = await bus.call('shell::attach', { job_id });
  return latenessOf(await bus.openReader(reader));
}

/** The median over the lines, in milliseconds. */
async function latenessOf(items) {
  const late = [];
  for await (const item of items) {
    if (typeof item === 'string') continue;
    late.push(performance.timeOrigin + performance.now() - Number(Buffer.from(item).toString().split('\n')[0]));
  }
  return { late: median(late) };
}
