/**
 * The report of a node: its heartbeat, also sent when something in it changes. Unknown fields are ignored: nodes differ
 * in version.
 */
import { z } from 'zod';

import { SandboxReportSchema } from '#contract';
import { ROLES } from '../settings.ts';

const name = z.string().max(64);

export const NodeReportSchema = z.object({
  v: z.literal(1),
  every_ms: z.int().min(100).max(60_000),
  /** Counts connections to NATS: after a new one, peers poll for their calls at once. */
  conn: z.int().min(1),
  joined_ms: z.int().min(0),
  state: z.enum(['up', 'draining']),
  version: z.string().max(64),
  roles: z.array(z.enum(ROLES)).max(ROLES.length),
  aliases: z.array(name).max(16),
  /** Hash of the list of its functions. */
  catalogue: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Time of its clock, for `workcell doctor`. */
  now_ms: z.int().optional(),
  labels: z.record(z.string().max(64), z.string().max(64)).optional(),
  /** URL of its HTTP server. */
  url: z.string().max(256).optional(),
  /** Absent on a node without sandboxes. */
  sandboxes: SandboxReportSchema.optional(),
});
export type NodeReport = z.output<typeof NodeReportSchema>;

/** Whether lists of nodes show the same of both; the clock and the free memory differ in every report. */
export function showsSame(a: NodeReport, b: NodeReport): boolean {
  return shown(a) === shown(b);
}

function shown({ now_ms: _, sandboxes, ...report }: NodeReport): string {
  return JSON.stringify({ ...report, sandboxes: sandboxes && { ...sandboxes, memory_free_mb: 0 } });
}
