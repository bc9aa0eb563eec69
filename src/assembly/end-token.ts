/**
 * Ends everything of a token that is no longer accepted: its connections and calls, its background jobs, its sandboxes.
 *
 * Workers list the callers of jobs only for the operator and the console, so this calls as the operator.
 */
import { z } from 'zod';

import { connect } from '#client';
import { CallError, makePrincipal, type Bus, type Log } from '#contract';
import type { Engine } from '#engine';

/** Each list, the ids in it, and the function that ends one of them. */
const LEFT = [
  { list: 'shell::list', rows: 'jobs', end: 'shell::kill', key: 'id', field: 'job_id' },
  { list: 'sandbox::jobs', rows: 'jobs', end: 'sandbox::kill', key: 'id', field: 'job_id' },
  { list: 'sandbox::list', rows: 'sandboxes', end: 'sandbox::stop', key: 'sandbox_id', field: 'sandbox_id' },
] as const;

const Row = z.looseObject({ caller: z.object({ id: z.string() }).optional(), status: z.string().optional() });
const OPTIONS = { caller: { ...makePrincipal('operator', 'removed token'), approves: true } };

interface Ending {
  /** Namespaces of the workers. */
  namespaces: readonly string[];
  log: Log;
}

export async function endToken(engine: Engine, token: string, { namespaces, log }: Ending): Promise<void> {
  engine.endToken(token);
  const bus = await connect(engine.dialer(), { name: 'workcell:access', isolation: 'in-process', log });
  try {
    let ended = 0;
    for (const namespace of namespaces) {
      for (const left of LEFT) ended += await endIn(bus, left, { token, namespace });
    }
    if (ended > 0) log.info('ended jobs and sandboxes of a token that was removed or changed', { token, ended });
  } catch (error) {
    log.error('jobs or sandboxes of a removed token may still run', { token, why: String(error) });
  } finally {
    bus.close();
  }
}

async function endIn(
  bus: Bus,
  { list, rows, end, key, field }: (typeof LEFT)[number],
  { token, namespace }: { token: string; namespace: string },
): Promise<number> {
  const reply = await bus.call(list, {}, { ...OPTIONS, namespace }).catch(unlessMissing);
  const listed = z.object({ [rows]: z.array(Row) }).safeParse(reply).data?.[rows] ?? [];
  const own = listed.filter(({ caller, status = 'running' }) => status === 'running' && isOf(token, caller?.id ?? ''));
  const ending = own.map((row) => bus.call(end, { [field]: row[key] }, { ...OPTIONS, namespace }).catch(unlessMissing));
  await Promise.all(ending);
  return own.length;
}

/** Lists name the principal, its MCP session by a number, and its program. */
function isOf(token: string, callerId: string): boolean {
  return callerId.split(/[# ]/, 1)[0] === `token:${token}`;
}

/** A worker that does not run, or a job that ended by itself. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof CallError)) throw error;
}
