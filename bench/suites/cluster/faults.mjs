/** Calls while servers and nodes are killed, hang and are cut off: how many were answered, and after how long. */
import { setTimeout as sleep } from 'node:timers/promises';

import { formatMs } from '../../units.mjs';
import { holding } from './holding.mjs';
import { chaos, CutNetwork, NatsServers, NodeProcess, serverFaults } from './test-parts.mjs';

const IN_FLIGHT = 64;
const LEASE_MS = 8_000;

export function underFaults(harness) {
  return holding(async (hold) => measureFaults(harness, hold(await NatsServers.start({ count: 3 }))));
}

async function measureFaults(harness, nats) {
  const count = harness.isQuick ? 1_000 : 10_000;
  const rows = [];
  const add = (row) => {
    rows.push([row.name, row.calls, row.ok, row.failed, row.twice, formatMs(row.longestMs)]);
    return row;
  };
  const stormed = (name, fault, more) => withNodes(nats, (nodes) => storm(name, nodes, { fault, count, ...more }));

  const killed = [
    add(await stormed('each server killed in turn', () => serverFaults.killInTurn(nats, [1, 0, 2]))),
    add(await stormed('all servers killed, back after 2 s', () => serverFaults.killAll(nats))),
  ];
  const longest = Math.max(...killed.map(({ longestMs }) => longestMs));
  bar(harness, 'C6', 'servers killed in turn, and all: every call ok, none twice, longest ≤ 6 s', {
    measured: `${sum(killed, 'ok')} of ${sum(killed, 'calls')}, ${sum(killed, 'twice')} twice, ${formatMs(longest)}`,
    isMet: killed.every(isWhole) && longest <= 6_000,
  });

  const hung = add(await stormed('a server hangs for 8 s', () => serverFaults.hang(nats, 8_000)));
  bar(harness, 'C7', 'a server hangs 8 s: every call ok, longest ≤ 9 s', {
    measured: `${hung.ok} of ${hung.calls}, ${formatMs(hung.longestMs)}`,
    isMet: isWhole(hung) && hung.longestMs <= 9_000,
  });

  const dead = add(await killedOwner(nats, count));
  bar(harness, 'C8', 'a node killed: in flight answered ≤ 2.5 s, nothing else fails while another owner lives', {
    measured: `${dead.failed} of ${IN_FLIGHT} in flight failed, the last after ${formatMs(dead.answeredMs)}`,
    isMet: dead.failed <= IN_FLIGHT && dead.isOnlyStopped && dead.twice === 0 && dead.answeredMs <= 2_500,
  });

  const silentMs = await withNodes(nats, hungNode);
  bar(harness, 'C9', 'a node hangs: its calls are answered ≤ lease (8 s) + 2 s', {
    measured: formatMs(silentMs),
    isMet: silentMs <= LEASE_MS + 2_000,
  });

  const cut = add(await cutOff(count));
  bar(harness, 'C10', 'a node cut off for 2 s: no call fails', {
    measured: `${cut.failed} of ${cut.calls} failed`,
    isMet: isWhole(cut),
  });

  const mixed = add(await inChaos(nats, harness.isQuick ? 5 : 53));
  bar(harness, 'C15', 'chaos: every call one answer, none twice', {
    measured: `${mixed.ok} of ${mixed.calls} ok, ${mixed.twice} twice, ${mixed.faults} faults`,
    isMet: mixed.ok + mixed.failed === mixed.calls && mixed.twice === 0,
  });

  harness.table({
    title: 'Calls under faults',
    note: `${IN_FLIGHT} in flight; each takes up to 20 ms, one of fifty 1.5 s. Three servers, a node of the caller and one of the function.`,
    head: ['fault', 'calls', 'ok', 'failed', 'ran twice', 'longest wait'],
    rows,
  });
}

function bar(harness, id, goal, { measured, isMet }) {
  harness.bar({ id, goal, measured, met: isMet });
}

const sum = (rows, field) => rows.reduce((total, row) => total + row[field], 0);
const isWhole = ({ ok, calls, twice }) => ok === calls && twice === 0;

/** Each node is at its own server, and hears of the others from it. */
function withNodes(nats, work) {
  return holding(async (hold) => {
    const [one, two] = nats.urls;
    const caller = hold(await NodeProcess.start('caller', [one]));
    const callee = hold(await NodeProcess.start('callee', [two]));
    await untilKnown(caller, 'callee');
    return await work({ caller, callee, hold });
  });
}

async function untilKnown(node, name) {
  while (!(await node.ask('peers')).includes(name)) await sleep(50);
}

async function storm(name, { caller, callee }, { fault, ...given }) {
  const running = caller.ask('storm', { namespace: 'callee', inFlight: IN_FLIGHT, prefix: name, ...given });
  await sleep(500);
  const happened = await fault();
  const { failed: keysByCode, ...rest } = await running;
  const { twice } = await callee.ask('ran');
  return { ...rest, name, failed: Object.values(keysByCode).flat().length, twice: twice.length, happened };
}

async function killedOwner(nats, count) {
  return withNodes(nats, async ({ caller, callee, hold }) => {
    const second = hold(await NodeProcess.start('second', nats.urls));
    await callee.ask('serve', { ids: ['pool::once'] });
    await caller.ask('whenListed', { prefix: 'pool::', count: 1 });
    await second.ask('serve', { ids: ['pool::once'] });
    await sleep(2_000);
    let killedAt = 0;
    const fault = async () => {
      killedAt = performance.timeOrigin + performance.now();
      callee.signal('SIGKILL');
    };
    const given = { fault, count, id: 'pool::once', namespace: undefined };
    const row = await storm('the node of the function killed', { caller, callee: second }, given);
    const isOnlyStopped = Object.keys(row.codes).every((code) => code === 'invocation_stopped');
    return { ...row, isOnlyStopped, answeredMs: Math.max(0, row.lastFailureAt - killedAt) };
  });
}

async function hungNode({ caller, callee }) {
  const call = caller.ask('call', { id: 'work::once', namespace: 'callee', data: { key: 'hangs', ms: 60_000 } });
  while (!(await callee.ask('isRunning', { key: 'hangs' }))) await sleep(20);
  callee.signal('SIGSTOP');
  const started = performance.now();
  const { code } = await call;
  const took = performance.now() - started;
  callee.signal('SIGCONT');
  if (code !== 'invocation_stopped') throw new Error(`a call to a hung node ended with ${code}`);
  return took;
}

/** One server: of several, a node would dial another that it heard of, around the cut. */
function cutOff(count) {
  return holding(async (hold) => {
    const nats = hold(await NatsServers.start());
    const network = hold(await CutNetwork.before(nats.urls[0]));
    const caller = hold(await NodeProcess.start('caller', nats.urls));
    const callee = hold(await NodeProcess.start('callee', [network.url]));
    await untilKnown(caller, 'callee');
    const fault = async () => {
      network.cut();
      await sleep(2_000);
      network.heal();
    };
    return storm('the node of the function cut off for 2 s', { caller, callee }, { fault, count });
  });
}

async function inChaos(nats, seconds) {
  return withNodes(nats, async (nodes) => {
    const over = new AbortController();
    const fault = async () => {
      const timer = setTimeout(() => over.abort(), (seconds - 5) * 1_000);
      const faults = await chaos(nats, (signal) => nodes.callee.signal(signal), over.signal);
      clearTimeout(timer);
      return faults;
    };
    const row = await storm(`mixed faults for ${seconds} s`, nodes, { fault, seconds });
    return { ...row, faults: row.happened };
  });
}
