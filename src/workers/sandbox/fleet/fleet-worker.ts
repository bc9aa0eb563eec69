/**
 * The sandbox functions as every node of a cluster offers them: each call goes to the machine that has the sandbox, and
 * a new sandbox to one that has room.
 *
 * No state is kept here: an id contains its machine, and machines report their free slots themselves.
 */
import { z } from 'zod';

import { CallError, wire, type AnyWorker, type CallScope, type Fleet, type FunctionDef } from '#contract';
import { errors, spell } from '../errors.ts';
import { IsolationSchema } from '../isolation.ts';
import { parseSandboxId } from '../live/sandbox-id.ts';
import type { SandboxContext } from '../worker.ts';
import { askAll, ownRows } from './ask-all.ts';
import { ImageBringer } from './bring-image.ts';
import { callHost, callOwner } from './call-host.ts';
import { FreeSlots } from './free-slots.ts';
import { lostWhileRunning, notThere, PassedOn } from './host-failure.ts';
import { schedule } from './schedule.ts';
import { tagOf } from './sandbox-tag.ts';
import { watchAll } from './watch-all.ts';

type SandboxFunction = FunctionDef<SandboxContext>;
type Handle = (request: unknown, scope: CallScope) => Promise<unknown>;
/** Difference of a cluster's function from the function of one machine. */
interface FleetVariant {
  request?: z.ZodRawShape;
  response?: z.ZodRawShape;
  handle: Handle;
}

const scheduleFields = {
  node: z.string().nullish().describe('The machine to create it on. Default: any with room.'),
  isolation: IsolationSchema.nullish().describe('Only on a machine whose sandboxes are isolated like this.'),
};
const nodeReply = { node: z.string().describe('The machine that it is on.') };
const unreachable = z.array(z.string()).describe('Machines that did not answer in time.');
const DEFAULT_LIMIT = 1_000;
const STOP = { id: 'sandbox::stop' };

const Wanted = z.looseObject({
  image: z.string(),
  node: z.string().nullish(),
  isolation: z.string().nullish(),
  memory_mb: z.number().nullish(),
  disk_mb: z.number().nullish(),
});
const Made = z.looseObject({ sandbox_id: z.string().nullish(), isolation: z.string().optional() });
const Sandboxes = z.object({ sandboxes: z.array(z.looseObject({ sandbox_id: z.string(), age_secs: z.number() })) });
const Jobs = z.object({ jobs: z.array(z.looseObject({ id: z.string() })) });
const Images = z.object({
  images: z.array(z.looseObject({ name: z.string(), allowed: z.boolean().optional(), cached: z.boolean().optional() })),
  cache_id: z.string().optional(),
});

export function fleetWorkerOf(worker: AnyWorker & { functions: readonly SandboxFunction[] }, fleet: Fleet): AnyWorker {
  const bringer = new ImageBringer(fleet);
  return {
    ...worker,
    open: () => ({}),
    close: () => {},
    prepare: async () => {},
    metrics: () => [],
    translate: () => undefined,
    spell: (failure, engine) => (failure instanceof PassedOn ? failure.sent.body : spell(failure, engine)),
    functions: worker.functions.map((fn) => toFleetFunction(fn, fleetVariantOf(fn, fleet, bringer))),
  };
}

function toFleetFunction(
  fn: SandboxFunction,
  { request = {}, response = {}, handle }: FleetVariant,
): FunctionDef<unknown> {
  return {
    ...fn,
    text: undefined,
    scope: 'door',
    request: extended(fn.request, request),
    response: extended(fn.response, response),
    errors: [...new Set([...fn.errors, 'S002', 'S300', 'S400'])],
    handle: (given, _, scope) => handle(given, scope),
  };
}

/** Keeps its title. */
function extended(schema: z.ZodType, shape: z.ZodRawShape): z.ZodType {
  return schema instanceof z.ZodObject ? schema.extend(shape).meta({ title: schema.meta()?.title }) : schema;
}

function fleetVariantOf(fn: SandboxFunction, fleet: Fleet, bringer: ImageBringer): FleetVariant {
  switch (fn.id) {
    case 'sandbox::create':
      return {
        request: scheduleFields,
        response: nodeReply,
        handle: scheduled(fn, fleet, { bringer, isRepeatable: true }),
      };
    case 'sandbox::run':
      return {
        request: scheduleFields,
        response: nodeReply,
        handle: scheduled(fn, fleet, { bringer, isRepeatable: false }),
      };
    case 'sandbox::list':
      return listed(fn, fleet);
    case 'sandbox::catalog::list':
      return { handle: (_, scope) => catalogue(fn, fleet, scope) };
    case 'sandbox::jobs':
      return { response: { unreachable: unreachable.optional() }, handle: jobs(fn, fleet) };
    case 'sandbox::watch':
      return { handle: named(fn, fleet, (scope) => watchAll(fleet, fn, scope)) };
    default:
      return { handle: named(fn, fleet) };
  }
}

/** Forwards by the sandbox or the job that the request names; `others` answers a request that names none. */
function named(fn: SandboxFunction, fleet: Fleet, others?: (scope: CallScope) => Promise<unknown>): Handle {
  return async (request, scope) => {
    const { sandbox_id: sandboxId, job_id: jobId } = request as { sandbox_id?: string | null; job_id?: string };
    if (sandboxId == null && jobId === undefined && others) return others(scope);
    const kind = jobId === undefined ? 'sandbox' : 'job';
    const id = jobId ?? parseSandboxId(sandboxId!);
    const tag = tagOf(id);
    if (tag === undefined) throw notThere({ id, kind });
    return callOwner(fleet, fn, { id, kind, tag }, scope);
  };
}

interface Scheduled {
  readonly bringer: ImageBringer;
  readonly isRepeatable: boolean;
}

const slots = new FreeSlots();

function scheduled(fn: SandboxFunction, fleet: Fleet, { bringer, isRepeatable }: Scheduled): Handle {
  return (_, scope) => {
    const { node, isolation, ...payload } = Wanted.parse(scope.call.payload);
    const { image, memory_mb: memoryMb, disk_mb: diskMb } = payload;
    // A created sandbox can be stopped again; a command that ran cannot be undone.
    const wish = { image, node, sizeMb: (memoryMb ?? 0) + (diskMb ?? 0), isolation, triesUnknown: isRepeatable };
    return schedule({
      ...{ fleet, slots, wish, isRepeatable, signal: scope.signal },
      async attempt(host, called) {
        await bringer.bring(image, host, scope);
        const options = { takesEncoded: false };
        if (!isRepeatable) called();
        const reply = Made.parse(await callHost(host.name, fn, { payload, scope, options }));
        const { sandbox_id: id } = reply;
        // Rejects an id of another machine: later calls would go there, not to the one that answered.
        if (id != null && tagOf(id) !== host.id) throw lostWhileRunning(host.name);
        if (isRepeatable && isolation != null && reply.isolation !== isolation) {
          await callHost(host.name, STOP, { payload: { sandbox_id: id }, scope, options });
          throw new CallError(fn.id, {
            code: 'S400',
            message: `host ${host.name} started isolation ${reply.isolation} instead of ${isolation}: try again`,
          });
        }
        return { ...reply, node: host.name };
      },
    });
  };
}

function listed(fn: SandboxFunction, fleet: Fleet): FleetVariant {
  return {
    request: {
      node: z.string().optional().describe('Only those of this machine.'),
      limit: wire.uint32().min(1).default(DEFAULT_LIMIT).describe('Most rows returned, the oldest first.'),
    },
    response: { unreachable, truncated: z.boolean().describe('Whether there are more than `limit`.') },
    async handle(request, scope) {
      const { node, limit, ...payload } = request as { node?: string; limit: number };
      const read = (reply: unknown) => Sandboxes.parse(reply).sandboxes;
      const { answers, unreachable: silent } = await askAll(fleet, fn, { payload, node, scope, read });
      const rows = answers.flatMap(({ host, reply }) => ownRows(host, reply, (row) => row.sandbox_id));
      const sorted = rows.toSorted((a, b) => b.age_secs - a.age_secs);
      return { sandboxes: sorted.slice(0, limit), unreachable: silent, truncated: sorted.length > limit };
    },
  };
}

function jobs(fn: SandboxFunction, fleet: Fleet): Handle {
  return named(fn, fleet, async (scope) => {
    const read = (reply: unknown) => Jobs.parse(reply).jobs;
    const { answers, unreachable: silent } = await askAll(fleet, fn, { scope, read });
    const rows = answers.flatMap(({ host, reply }) => ownRows(host, reply, (row) => row.id));
    return { jobs: rows, count: rows.length, unreachable: silent };
  });
}

/** An image is allowed or cached when it is on any machine. */
async function catalogue(fn: SandboxFunction, fleet: Fleet, scope: CallScope): Promise<unknown> {
  const { answers } = await askAll(fleet, fn, { scope, read: (reply) => Images.parse(reply) });
  if (answers.length === 0) throw errors.fail('S300', { problem: 'no machine of this cluster offers sandboxes' });
  const byName = new Map<string, z.output<typeof Images>['images'][number]>();
  for (const row of answers.flatMap(({ reply }) => reply.images)) {
    const known = byName.get(row.name) ?? row;
    const either = (field: 'allowed' | 'cached') => known[field] === true || row[field] === true;
    byName.set(row.name, { ...known, allowed: either('allowed'), cached: either('cached') });
  }
  const own = answers.find(({ host }) => host.id === fleet.self.id)?.reply.cache_id;
  return { images: [...byName.values()], ...(own !== undefined && { cache_id: own }) };
}
