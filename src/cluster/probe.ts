/**
 * The checks of `workcell doctor` on a cluster: whether a server answers, accepts this node, and which nodes are there.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { silentLog } from '#contract';
import { ASK_TIMEOUT_MS, MAX_HEARTBEAT_BYTES } from './limits.ts';
import type { ClusterSettings } from './settings.ts';
import { readAs, toBytes } from './wire/json.ts';
import { NotPermitted, Wire } from './wire/nats.ts';
import { NodeReportSchema } from './wire/node-report.ts';
import { CALLERS_SEND, HOSTS_SEND } from './wire/permissions.ts';
import { senderOf, Subjects, type Address, type ToNode } from './wire/subjects.ts';

const CONNECT_MS = 3_000;
/** Every node reports when it hears a hello. */
const LISTEN_MS = 1_200;
/** A name that no node can have: the NATS server only answers whether publishing is permitted. */
const UNHEARD: Address = { name: 'default', id: '00000000' };

export interface ClusterProbe {
  /** Undefined when no server answers in time. */
  server?: { url: string; version: string; roundTripMs: number };
  /** Why no server answers, as far as the client reports it. */
  whyDown?: string;
  /** Permissions that this node's user lacks. */
  refused: string[];
  /** Whether a node has this name; on this machine that is the running node itself. */
  isNameTaken: boolean;
  /** Nodes that were heard, with the milliseconds that their clock is ahead of this one. */
  nodes: { name: string; aheadMs?: number }[];
}

/** Throws a `ConfigError` when the client is missing or the server refuses the key. */
export async function probeCluster(settings: ClusterSettings): Promise<ClusterProbe> {
  const found: ClusterProbe = { refused: [], isNameTaken: false, nodes: [] };
  const isDoor = settings.roles.includes('door');
  const log = {
    ...silentLog,
    warn: (text: string) => void (text.includes('subscription') && found.refused.push('hear other nodes')),
  };
  const wire = new Wire(settings, log, { up: () => {}, down: () => {} });
  const subjects = new Subjects(settings.cluster, { name: settings.node, id: randomBytes(4).toString('hex') });
  if (isDoor) {
    wire.subscribe(subjects.fromAll('beat'), ({ subject, data }) => {
      const report = readAs(NodeReportSchema, data, MAX_HEARTBEAT_BYTES);
      const from = senderOf(subject);
      if (!report || !from || found.nodes.some(({ name }) => name === from.name)) return;
      const aheadMs = report.now_ms === undefined ? undefined : report.now_ms - Date.now();
      found.nodes.push({ name: from.name, ...(aheadMs !== undefined && { aheadMs }) });
    });
  }
  try {
    await Promise.race([wire.open(), sleep(CONNECT_MS, undefined, { ref: false })]);
    if (!wire.isUp) return { ...found, ...(wire.whyDown !== undefined && { whyDown: wire.whyDown }) };
    found.server = { url: wire.server!, version: wire.serverVersion, roundTripMs: await wire.roundTrip() };
    const own = await sent(wire, subjects.ownName);
    found.isNameTaken = own === 'answered';
    if (own === 'refused') found.refused.push(`be node ${settings.node}`);
    else found.refused.push(...(await refusedToSend(wire, subjects, isDoor)));
    wire.publish(subjects.toAll('hello'));
    if (isDoor) await sleep(LISTEN_MS);
    return found;
  } finally {
    await wire.close();
  }
}

async function sent(wire: Wire, subject: string): Promise<'answered' | 'unanswered' | 'refused'> {
  return wire.request(subject, toBytes({}), ASK_TIMEOUT_MS).then(
    () => 'answered',
    (error: unknown) => (error instanceof NotPermitted ? 'refused' : 'unanswered'),
  );
}

/** Tries to publish each kind of message; a host makes no calls, so those are skipped. */
async function refusedToSend(wire: Wire, subjects: Subjects, isDoor: boolean): Promise<string[]> {
  const isRefused = async (kinds: readonly ToNode[]) => {
    const outcomes = await Promise.all(kinds.map((kind) => sent(wire, subjects.toNode(kind, UNHEARD))));
    return outcomes.includes('refused');
  };
  const [answers, calls] = await Promise.all([isRefused(HOSTS_SEND), isRefused(isDoor ? CALLERS_SEND : [])]);
  return [...(answers ? ['answer other nodes'] : []), ...(calls ? ['call other nodes'] : [])];
}
