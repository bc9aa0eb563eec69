/**
 * Many hosts in one process: each sends reports, announces the functions of sandboxes and answers calls as a node does,
 * with the real messages, and does its work by waiting. `hosts.mjs SERVER COUNT CREATE_MS EXEC_MS`.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '@nats-io/transport-node';

import { decodeFrame } from '#protocol';
import { sandbox } from '#workers/sandbox';

import { serveParent } from '../../../processes.mjs';

const [server, count, createMs, execMs] = process.argv.slice(2);
/** As a node with the role `host` alone: it does not hear how many others there are. */
const HEARTBEAT_MS = 1_000;
const PLACES = 120;
const PREFIX = 'wc1.default';

const toBytes = (value) => Buffer.from(JSON.stringify(value));
const nameOf = (text) => hash('sha256', text);
const nats = await connect({ servers: server, noEcho: true, inboxPrefix: '_INBOX.hosts' });

const functions = toBytes(
  sandbox.functions.map(({ id, summary }) => ({ id, description: summary, metadata: { workcell: { scope: 'host' } } })),
);
const blocks = new Map([[nameOf(functions), functions]]);
const hosts = new Map();
for (let at = 0; at < Number(count); at++) {
  const [name, id] = [`h${at}`, randomBytes(4).toString('hex')];
  const list = toBytes([{ scope: 'host', namespace: name, since_ms: at, functions: nameOf(functions) }]);
  blocks.set(nameOf(list), list);
  hosts.set(id, { name, id, catalogue: nameOf(list), living: 0, starting: 0, calls: new Set() });
}

const totals = { made: 0, refused: 0, execs: 0 };
const images = [nameOf('python').slice(0, 12)];

function sendReport({ name, id, catalogue, living, starting }) {
  const sandboxes = {
    ...{ places: PLACES - living - starting, starting, living, max: PLACES, images },
    ...{ memory_free_mb: 100_000, isolation: 'namespaces', backend: 'namespaces' },
  };
  const said = { v: 1, every_ms: HEARTBEAT_MS, conn: 1, joined_ms: 1, state: 'up', version: '0', roles: ['host'] };
  nats.publish(`${PREFIX}.all.beat.${name}.${id}`, toBytes({ ...said, aliases: [], labels: {}, catalogue, sandboxes }));
}

async function create(host) {
  if (host.living + host.starting >= PLACES) {
    totals.refused++;
    return { error: { code: 'S400', message: 'full' } };
  }
  host.starting++;
  await sleep(Number(createMs));
  host.starting--;
  host.living++;
  totals.made++;
  const random = randomUUID();
  return { result: { sandbox_id: `${host.id}${random.slice(8, 14)}8${random.slice(15)}`, image: 'python' } };
}

async function exec() {
  await sleep(Number(execMs));
  totals.execs++;
  return { result: { stdout: 'done\n', stderr: '', exit_code: 0, timed_out: false, duration_ms: 5, success: true } };
}

async function answer(host, { invocation_id, function_id }, from) {
  if (host.calls.has(invocation_id)) return;
  host.calls.add(invocation_id);
  const reply = await (function_id === 'sandbox::create' ? create(host) : exec());
  host.calls.delete(invocation_id);
  const frame = { type: 'invocationresult', invocation_id, function_id, ...reply };
  nats.publish(`${PREFIX}.${from}.result.${host.name}.${host.id}`, toBytes(frame));
}

function listen(kind, take) {
  nats.subscribe(`${PREFIX}.*.*.${kind}.*.*`, {
    callback(_, message) {
      const [, , , id, , name, sender] = message.subject.split('.');
      const host = hosts.get(id);
      if (host) take(host, message, `${name}.${sender}`);
    },
  });
}

listen('call', (host, { data }, from) => {
  const { frame } = decodeFrame(Buffer.from(data).toString());
  if (frame?.type === 'invokefunction') void answer(host, frame, from);
});
listen('block', (_, message) => message.respond(blocks.get(message.json().hash) ?? ''));
listen('ask', ({ calls }, message) => {
  const unknown = message.json().calls.filter((id) => !calls.has(id));
  message.respond(toBytes({ unknown, lost: [], memory_ms: 0 }));
});

for (const [at, host] of [...hosts.values()].entries()) {
  setTimeout(() => setInterval(sendReport, HEARTBEAT_MS, host), (at / hosts.size) * HEARTBEAT_MS);
}
await nats.flush();
serveParent({}, () => totals);
