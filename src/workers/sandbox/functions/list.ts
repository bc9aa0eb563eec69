/** sandbox::list: lists the running sandboxes, in the order of their creation. */
import { z } from 'zod';

import { callerRef, CallerRefSchema, wire } from '#contract';
import type { Decision, EgressProxy } from '#egress';
import { BackendSchema, IsolationSchema } from '../isolation.ts';
import type { LiveSandbox } from '../live/live-sandbox.ts';
import { sandbox } from '../worker.ts';

const Usage = z.object({
  memory_bytes: wire.uint64(),
  pids: wire.uint64(),
  cpu_ms: wire.uint64().describe('CPU time used so far, in milliseconds.'),
  disk_bytes: wire.uint64().describe('Bytes written to its disk, if the backend reports it.'),
});

const Egress = z.object({
  allow: z.array(z.string()),
  deny: z.array(z.string()),
  open_connections: wire.uint32(),
  allowed: wire.uint64().describe('Connections that were made.'),
  refused: wire.uint64().describe('Connections that no rule allows.'),
  failed: wire.uint64().describe('Connections that were allowed but failed.'),
  bytes_sent: wire.uint64(),
  bytes_received: wire.uint64(),
  recent: z
    .array(
      z.object({
        at_ms: wire.uint64(),
        host: z.string(),
        port: wire.uint32(),
        verdict: z.enum(['allowed', 'refused', 'failed']),
        rule: z.string().nullable().describe('The entry that decided.'),
        reason: z.string().nullable().describe('Why it was refused or failed.'),
        bytes_sent: wire.uint64(),
        bytes_received: wire.uint64(),
      }),
    )
    .optional()
    .describe('The last connection attempts, newest first; only with egress_log.'),
});

const SandboxSummary = wire.named(
  'SandboxSummary',
  z.object({
    sandbox_id: z.string(),
    name: z.string().nullish().describe('The label it was created with.'),
    image: z.string(),
    age_secs: wire.uint64(),
    exec_in_progress: z.boolean().describe('Whether any command runs in it.'),
    stopped: z.boolean().describe('Always false: a sandbox that was stopped is not listed.'),
    exec_in_flight: wire.uint32().optional().describe('Commands that run now.'),
    exec_slots_free: wire.uint32().optional().describe('Commands that could be started now.'),
    isolation: IsolationSchema.optional(),
    backend: BackendSchema.optional(),
    cpus: wire.uint32().optional(),
    memory_mb: wire.uint32().optional(),
    disk_mb: wire.uint32().optional(),
    network: z.boolean().optional(),
    egress: Egress.optional().describe('Allowed hosts and traffic, if it has a network.'),
    idle_deadline_secs: wire
      .uint64()
      .nullish()
      .describe('Seconds until it is stopped for being idle; null while it is used.'),
    idle_secs: wire.uint64().nullish().describe('Seconds since it was used last; null while it is used.'),
    caller: CallerRefSchema.optional().describe('The caller that created it, if it is known.'),
    usage: Usage.optional().describe('Current usage, if the backend reports it.'),
  }),
);

export const list = sandbox.defineFunction({
  id: 'sandbox::list',
  summary: 'List the running sandboxes with their usage and idle timeout.',
  effect: 'read',
  permissions: ['sandbox.read'],
  request: z
    .object({
      egress_log: z.boolean().optional().describe('Return the last connection attempts of each sandbox, up to 100.'),
    })
    .meta({ title: 'ListRequest' }),
  response: z.object({ sandboxes: z.array(SandboxSummary) }).meta({ title: 'ListResponse' }),
  errors: [],
  examples: [{}],

  async handle({ egress_log: hasLog = false }, { sandboxes }) {
    return { sandboxes: await Promise.all(sandboxes.all.map((one) => summarise(one, { nowMs: Date.now(), hasLog }))) };
  },
});

async function summarise(
  one: LiveSandbox,
  { nowMs, hasLog }: { nowMs: number; hasLog: boolean },
): Promise<z.input<typeof SandboxSummary>> {
  const { facts, createdAtMs, execsInFlight, idleDeadlineMs, idleSinceMs, instance } = one;
  const { image, cpus, memoryMb, diskMb } = facts.shape;
  const usage = await instance.usage();
  return {
    sandbox_id: facts.id,
    name: facts.name,
    image: image.name,
    age_secs: seconds(nowMs - createdAtMs),
    exec_in_progress: execsInFlight > 0,
    stopped: false,
    exec_in_flight: execsInFlight,
    exec_slots_free: facts.maxExecs - execsInFlight,
    isolation: facts.isolation,
    backend: facts.rung,
    cpus,
    memory_mb: memoryMb,
    disk_mb: diskMb,
    network: one.egress !== undefined,
    egress: one.egress && egressOf(one.egress, hasLog),
    idle_deadline_secs: idleDeadlineMs === undefined ? null : seconds(idleDeadlineMs - nowMs),
    idle_secs: idleSinceMs === undefined ? null : seconds(nowMs - idleSinceMs),
    caller: callerRef(facts.caller),
    usage: usage && {
      memory_bytes: usage.memoryBytes,
      pids: usage.pids,
      cpu_ms: Math.round(usage.cpuMs),
      disk_bytes: usage.diskBytes,
    },
  };
}

function egressOf({ policy, log }: EgressProxy, hasLog: boolean): z.input<typeof Egress> {
  const { sent, received } = log.bytes;
  return {
    ...policy.lists,
    open_connections: log.openConnections,
    ...log.counts,
    bytes_sent: sent,
    bytes_received: received,
    recent: hasLog ? log.decisions.map(toRow) : undefined,
  };
}

const toRow = ({ atMs, bytesSent, bytesReceived, ...row }: Decision) => ({
  at_ms: atMs,
  ...row,
  bytes_sent: bytesSent,
  bytes_received: bytesReceived,
});

const seconds = (ms: number) => Math.max(0, Math.floor(ms / 1000));
