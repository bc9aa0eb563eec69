/**
 * Ends everything of a token that this engine no longer accepts: its connections and calls, its background jobs, its
 * sandboxes, also those on other nodes of the cluster.
 *
 * Workers list the callers of jobs only for the operator and the console. This calls as a console page: the operator
 * would be listed among the agents, with each of these reads.
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

const Nodes = z.object({ nodes: z.array(z.object({ name: z.string(), self: z.boolean() })) });
const Functions = z.object({ functions: z.array(z.object({ function_id: z.string() })) });
const Row = z.looseObject({
  caller: z.object({ id: z.string() }).optional(),
  status: z.string().optional(),
  /** The node that has it, in lists of several nodes. */
  node: z.string().optional(),
});
const OPTIONS = { caller: makePrincipal('page', 'removed token') };

interface Ending {
  /** Namespaces of the workers of this engine. */
  namespaces: readonly string[];
  log: Log;
}

/** A namespace, and the ids of the token's principal on the node that serves it and on the others. */
interface Searched {
  readonly namespace: string;
  readonly idAt: (node: string | undefined) => string;
}

export async function endToken(engine: Engine, token: string, { namespaces, log }: Ending): Promise<void> {
  engine.endToken(token);
  const bus = await connect(engine.dialer(), { name: 'workcell:access', isolation: 'in-process', log });
  try {
    const { nodes } = Nodes.parse(await bus.call('engine::nodes::list', {}, OPTIONS));
    const self = nodes.find((node) => node.self)?.name;
    const idOn = (node: string | undefined) => (node === self ? `token:${token}` : `token:${token}@${self}`);
    const own = namespaces.map((namespace) => ({ namespace, idAt: (node = self) => idOn(node) }));
    const others = nodes.filter((node) => !node.self);
    const far = others.map(({ name }) => ({ namespace: name, idAt: () => idOn(name) }));
    const ended = await Promise.all([...own, ...far].map((searched) => endIn(bus, searched)));
    const count = ended.reduce((sum, some) => sum + some, 0);
    if (count > 0) log.info('ended jobs and sandboxes of a token that was removed or changed', { token, ended: count });
  } catch (error) {
    log.error('jobs or sandboxes of a removed token may still run', { token, why: String(error) });
  } finally {
    bus.close();
  }
}

async function endIn(bus: Bus, { namespace, idAt }: Searched): Promise<number> {
  const { functions } = Functions.parse(await bus.call('engine::functions::list', { namespace }, OPTIONS));
  const served = new Set(functions.map((fn) => fn.function_id));
  let ended = 0;
  for (const { list, rows, end, key, field } of LEFT) {
    if (!served.has(list)) continue;
    const options = { ...OPTIONS, namespace };
    const reply = await bus.call(list, {}, options).catch(unlessRefused);
    const listed = z.object({ [rows]: z.array(Row) }).safeParse(reply).data?.[rows] ?? [];
    const own = listed.filter(
      ({ caller, status = 'running', node }) => status === 'running' && caller && isOf(idAt(node), caller.id),
    );
    await Promise.all(own.map((row) => bus.call(end, { [field]: row[key] }, options).catch(unlessRefused)));
    ended += own.length;
  }
  return ended;
}

/** Lists name the principal, its MCP session by a number, the node of the caller, and its program. */
function isOf(principalId: string, callerId: string): boolean {
  const [principal = ''] = callerId.split(' ', 1);
  return principal.replace(/#[^@]*/, '') === principalId;
}

/** A worker that has just stopped, or a job that ended by itself. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof CallError)) throw error;
}
