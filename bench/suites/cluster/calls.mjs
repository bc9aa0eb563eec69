/** Calls and channels between two nodes, beside one engine by WebSocket and plain request-reply of NATS. */
import { Program } from '../../processes.mjs';
import { formatMs, formatNumber, rate, time } from '../../units.mjs';
import { holding } from './holding.mjs';
import { cpuUsOf } from './processor.mjs';
import { NatsServers } from './test-parts.mjs';

const ONE = 'one engine, WebSocket';
const PLAIN = 'plain NATS';
const NODES = 'node to node';
const THREE = 'node to node, 3 servers';
const SOCKETS = 'WebSocket, 2 nodes, WebSocket';

const NOTE = `\
- ${ONE}: client, engine and worker in three processes, as in the suite \`bus\`.
- ${PLAIN}: request and reply through one server, nothing of ours.
- ${NODES}: caller and worker each in the process of its node, one server between.
- ${THREE}: the same, each node at its own server of a cluster of three.
- ${SOCKETS}: the whole way of two clients at two nodes.`;

export function compareCalls(harness) {
  return holding(async (hold) => {
    const way = await openWays(hold);
    const latency = await compare(harness, way, {
      title: '200 bytes, one call at a time',
      note: NOTE,
      measures: { p50: { label: 'p50', unit: time }, p99: { label: 'p99', unit: time } },
      workload: { bytes: 200, calls: 500, inFlight: 1 },
      rounds: 21,
    });
    const throughput = await compare(harness, way, {
      title: '200 bytes, 32 calls in flight',
      measures: { throughput: { label: 'calls', unit: rate } },
      workload: { bytes: 200, calls: 6000, inFlight: 32 },
      rounds: 9,
    });
    const cost = await processorOfCall(harness, way);
    const body = await compareLarge(harness, way);
    const channel = await compareChannels(harness, way);
    setBars(harness, { latency, throughput, cost, body, channel });
  });
}

function compareLarge(harness, { calls }) {
  const { [PLAIN]: _, [SOCKETS]: __, ...large } = calls;
  return compare(
    harness,
    { calls: large },
    {
      title: '1 MiB, 4 calls in flight',
      note: 'Without plain NATS: a server with its default limit refuses a message of this size.',
      measures: { p50: { label: 'p50', unit: time } },
      workload: { bytes: 1024 * 1024, calls: 16, inFlight: 4 },
      rounds: 7,
    },
  );
}

async function openWays(hold) {
  const start = async (file, ...args) => hold(await Program.start(new URL(`./${file}.mjs`, import.meta.url), ...args));
  const [server, three] = [hold(await NatsServers.start()), hold(await NatsServers.start({ count: 3 }))];
  const pair = async (names, servers, of = '') => {
    const nodes = [];
    for (const [at, name] of names.entries()) nodes.push(await start('node', name, servers[at], ...(of ? [of] : [])));
    for (const node of nodes) while ((await node.request({ operation: 'peers' })) === 0) await passed();
    return nodes;
  };

  const engine = (await start('../bus/engine')).ready.url;
  await start('../bus/workcell-worker', engine);
  const [client, otherClient] = [await start('client', engine), await start('client', engine)];
  await start('plain-nats', server.urls[0], 'serve');
  const plain = await start('plain-nats', server.urls[0], 'call');
  const [a, b] = await pair(['a', 'b'], [server.urls[0], server.urls[0]]);
  const [c] = await pair(['c', 'd'], [three.urls[0], three.urls[1]]);
  const [e, f] = await pair(['e', 'f'], [server.urls[0], server.urls[0]], 'without-worker');
  await start('../bus/workcell-worker', f.ready.url);
  const socketClient = await start('client', e.ready.url);
  await untilServed(socketClient);

  const echo = (program, namespace) => (workload) => program.request({ operation: 'echo', namespace, ...workload });
  return {
    calls: {
      [ONE]: echo(client),
      [PLAIN]: (workload) => plain.request(workload),
      [NODES]: echo(a, 'b'),
      [THREE]: echo(c, 'd'),
      [SOCKETS]: echo(socketClient),
    },
    plain,
    nodes: [a, b],
    clients: [client, otherClient],
    server,
  };
}

const passed = () => new Promise((resolve) => setTimeout(resolve, 50));

/** The worker of the other node is known one report later; a failed answer would end the program that asks. */
async function untilServed(client) {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await client.request({ operation: 'echo', bytes: 20, calls: 1, inFlight: 1 });
}

function compare(harness, { calls }, { workload, ...options }) {
  const cases = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, () => call(workload)]));
  return harness.compare({ ...options, base: ONE, cases });
}

/** Processor time of both nodes and of the server for one call, 32 in flight. */
async function processorOfCall(harness, { calls, nodes: [, callee], server }) {
  const workload = { bytes: 200, calls: harness.isQuick ? 2_000 : 40_000, inFlight: 32 };
  const before = [await callee.request({ operation: 'cpuUs' }), cpuUsOf(server.pids[0])];
  const { cpuUs: caller, throughput } = await calls[NODES](workload);
  const after = [await callee.request({ operation: 'cpuUs' }), cpuUsOf(server.pids[0])];
  const [other, nats] = after.map((value, at) => (value - before[at]) / workload.calls);
  harness.table({
    title: 'Processor time of one call',
    note: `${workload.calls.toLocaleString('en-US')} calls of 200 bytes, 32 in flight, ${formatNumber(throughput)}/s.`,
    head: ['process', 'a call'],
    rows: [
      ['node of the caller', `${formatNumber(caller)} µs`],
      ['node of the function', `${formatNumber(other)} µs`],
      ['NATS server', `${formatNumber(nats)} µs`],
    ],
  });
  return { caller, callee: other, nats };
}

function compareChannels(harness, { nodes: [a, b], clients: [one, other], plain }) {
  const mib = harness.isQuick ? 8 : 64;
  const move = async (owner, writer, reader) => {
    const pair = await owner.request({ operation: 'open' });
    const started = performance.now();
    const writing = writer.request({ operation: 'write', ref: pair.writer, mib });
    const bytes = await reader.request({ operation: 'read', ref: pair.reader });
    await writing;
    if (bytes !== mib * 2 ** 20) throw new Error(`${bytes} bytes came through a channel of ${mib} MiB`);
    return { mibs: (mib / (performance.now() - started)) * 1000 };
  };
  const batches = { operation: 'stream', mib, batchBytes: 256 * 1024, inFlight: 4 };
  const sendBatches = async () => {
    const started = performance.now();
    await plain.request(batches);
    return { mibs: (mib / (performance.now() - started)) * 1000 };
  };
  return harness.compare({
    title: `A channel of ${mib} MiB, in items of 64 KiB`,
    note: `${PLAIN}: requests of 256 KiB, 4 in flight, with empty answers; nothing reads or keeps what arrives.`,
    base: 'one engine, two sockets',
    measures: {
      mibs: { label: 'MiB/s', unit: { better: 'higher', format: (value) => `${formatNumber(value)} MiB/s` } },
    },
    cases: {
      'one engine, two sockets': () => move(one, one, other),
      'far writer': () => move(a, b, a),
      'far reader': () => move(a, a, b),
      [PLAIN]: sendBatches,
    },
    rounds: 7,
  });
}

function setBars(harness, { latency, throughput, cost, body, channel }) {
  const bar = (id, goal, value, isMet, unit = ' ×') =>
    harness.bar({ id, goal, measured: `${formatNumber(value)}${unit}`, met: isMet });
  const p50 = latency.ratio('p50', NODES, ONE);
  const plain = ` × (plain NATS ${formatNumber(latency.ratio('p50', PLAIN, ONE))} ×)`;
  bar('C1', 'remote call p50 ≤ 1.6 × one engine by WebSocket', p50, p50 <= 1.6, plain);
  const share = throughput.ratio('throughput', NODES, ONE);
  bar('C2', 'remote calls/s, 32 in flight, ≥ 0.5 × one engine', share, share >= 0.5);
  const large = body.ratio('p50', NODES, ONE);
  bar('C3', '1 MiB, 4 in flight: p50 ≤ 1.3 × one engine', large, large <= 1.3);
  const slower = Math.min(...['far writer', 'far reader'].map((end) => channel.ratio('mibs', end, channel.cases[0])));
  bar('C4', 'a channel moves ≥ 1.0 × one engine with two sockets', slower, slower >= 1);
  harness.bar({
    id: 'C5',
    goal: 'processor a call ≤ 60 µs on each node',
    measured: `${formatMs(cost.caller / 1000)} caller, ${formatMs(cost.callee / 1000)} callee`,
    met: cost.caller <= 60 && cost.callee <= 60,
  });
}
