/**
 * Compares the bus with a bare broker over ws.
 *
 * Each arrangement runs in processes of its own: garbage collection and compiled code of one must not affect another.
 */
import { Program } from '../processes.mjs';
import { formatMs, formatNumber, rate, time } from '../units.mjs';

export const name = 'bus';
export const description =
  'An echo through the engine, beside a bare broker that speaks no protocol: it parses a message, looks up a number and writes it out again.';

const OURS = 'engine';
const BROKER = 'bare broker';
const SDK = 'engine, iii-sdk';
const DIRECT = 'direct';
const IN_PROCESS = 'in process';

const NOTE = `\
- ${BROKER}: client, broker and worker in three processes, plain \`ws\`.
- ${OURS}: the same three processes with our engine, our client and our worker.
- ${SDK}: the same, with the published iii-sdk 0.22.1 as client and as worker.
- ${DIRECT}: client and worker in two processes, one socket and nothing between.
- ${IN_PROCESS}: engine, worker and caller in one process, no socket.`;

export async function run(harness) {
  const programs = [];
  try {
    const clients = await startArrangements(programs);
    const latency = await compareLatency(harness, clients);
    const throughput = await compareThroughput(harness, clients);
    await compareLarge(harness, clients);
    setBars(harness, latency, throughput);
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

/** The client of each arrangement. Every program started is in `programs`, also if a later one fails. */
async function startArrangements(programs) {
  const start = async (file, ...args) => {
    const program = await Program.start(new URL(`./bus/${file}.mjs`, import.meta.url), ...args);
    programs.push(program);
    return program;
  };
  const between = async (middle, worker, client) => {
    const { url } = (await start(middle)).ready;
    await start(worker, url);
    return start(client, url);
  };
  return {
    [BROKER]: await between('bare-broker', 'bare-worker', 'bare-client'),
    [OURS]: await between('engine', 'workcell-worker', 'workcell-client'),
    [SDK]: await between('engine', 'sdk-worker', 'sdk-client'),
    [DIRECT]: await start('bare-client', (await start('bare-server')).ready.url),
    [IN_PROCESS]: await start('in-process'),
  };
}

/** Short rounds, many of them: a call that waits for two other processes feels any load on the machine. */
function compareLatency(harness, clients) {
  return harness.compare({
    title: '200 bytes, one call at a time',
    note: NOTE,
    base: BROKER,
    measures: { p50: { label: 'p50', unit: time }, p99: { label: 'p99', unit: time } },
    cases: casesOf(clients, { bytes: 200, calls: 1000, inFlight: 1 }),
    rounds: 31,
  });
}

function compareThroughput(harness, clients) {
  return harness.compare({
    title: '200 bytes, 32 calls in flight',
    base: BROKER,
    measures: { throughput: { label: 'calls', unit: rate } },
    cases: casesOf(clients, { bytes: 200, calls: 8000, inFlight: 32 }),
    rounds: 15,
  });
}

function compareLarge(harness, clients) {
  const { [IN_PROCESS]: _, ...acrossProcesses } = clients;
  return harness.compare({
    title: '1 MiB, 4 calls in flight',
    note: 'Across processes only: in process a payload is handed over as it is, whatever its size.',
    base: BROKER,
    measures: { p50: { label: 'p50', unit: time }, throughput: { label: 'calls', unit: rate } },
    cases: casesOf(acrossProcesses, { bytes: 1024 * 1024, calls: 16, inFlight: 4 }),
    rounds: 9,
  });
}

function casesOf(clients, workload) {
  return Object.fromEntries(Object.entries(clients).map(([name, client]) => [name, () => client.request(workload)]));
}

function setBars(harness, latency, throughput) {
  const share = throughput.ratio('throughput', OURS, BROKER);
  harness.bar({
    id: 'B2',
    goal: `engine calls/s ≥ 60 % of the ${BROKER}'s`,
    measured: `${formatNumber(share * 100)} %`,
    met: share >= 0.6,
  });

  const inProcessMs = latency.median('p50', IN_PROCESS);
  harness.bar({
    id: 'B3',
    goal: 'p50 in process < 20 µs',
    measured: formatMs(inProcessMs),
    met: inProcessMs < 0.02,
  });

  const timesDirect = latency.ratio('p50', OURS, DIRECT);
  harness.bar({
    id: 'B1',
    goal: 'engine p50 ≤ 2.5 × direct p50',
    measured: `${formatNumber(timesDirect)} × (the ${BROKER}: ${formatNumber(latency.ratio('p50', BROKER, DIRECT))} ×)`,
    met: timesDirect <= 2.5,
  });
}
