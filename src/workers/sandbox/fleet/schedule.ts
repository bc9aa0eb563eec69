/**
 * Schedules a new sandbox: tries machines one after the other until one accepts it.
 *
 * The machine's own limits are the reservation, so no slot is given out twice. A machine that was lost meanwhile may
 * have started the work, so only repeatable work is tried on another machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { CallError, type Failure, type Fleet, type FleetHost } from '#contract';
import { errors } from '../errors.ts';
import { chooseHost, fits, type Wish } from './choose-host.ts';
import type { FreeSlots, Started } from './free-slots.ts';
import { lostWhileRunning, PassedOn, unreachable } from './host-failure.ts';

const MOST_TRIES = 4;
/** Pause before a retry, if machines are busy with starts, or their next reports decide. */
const STARTING_PAUSE_MS = 100;
const MOST_PAUSES = 100;

/** Codes of a machine that refuses to create a sandbox. */
const REFUSED = new Set(['S400', 'S100', 'S101', 'channel_send_failed']);

interface Scheduling<T> {
  readonly fleet: Fleet;
  readonly slots: FreeSlots;
  readonly wish: Wish;
  readonly signal: AbortSignal;
  /** Whether the work may be repeated after its machine was lost. */
  readonly isRepeatable: boolean;
  /** A run calls `called` when it calls the machine: its reply comes when its sandbox has ended. */
  readonly attempt: (host: FleetHost, called: () => void) => Promise<T>;
}

export async function schedule<T extends Started>({
  fleet,
  slots,
  wish,
  signal,
  isRepeatable,
  attempt,
}: Scheduling<T>): Promise<T> {
  const hostOf = (id: string) => fleet.hosts().find((host) => host.id === id);
  for (let pauses = 0; ; pauses++) {
    const tried = new Set<string>();
    const refusals: { host: FleetHost; error: CallError }[] = [];
    const full = overLimit(fleet, slots);
    while (!full && tried.size < MOST_TRIES) {
      const host = chooseHost(fleet.hosts(), { wish, slots, tried });
      if (!host) break;
      tried.add(host.id);
      try {
        return await slots.during(host, hostOf, (called) => attempt(host, called));
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        const isStopped = error.code === 'invocation_stopped';
        if (isStopped && !isRepeatable) throw lostWhileRunning(host.name);
        if (!isStopped && !isRefusal(error)) throw new PassedOn(error);
        refusals.push({ host, error });
      }
    }
    const isSoonFree = full
      ? fleet.hosts().some((host) => slots.unreported(host) > 0)
      : refusals.some(({ error }) => error.extra.starting === true) ||
        (tried.size < MOST_TRIES && fleet.hosts().some((host) => !tried.has(host.id) && fits(host, wish)));
    if (!isSoonFree || pauses === MOST_PAUSES || signal.aborted) throw full ?? refusalOf(fleet, wish, refusals);
    await sleep(STARTING_PAUSE_MS);
  }
}

/** The limit of all machines together, by their reports; only the limit of each machine is exact. */
function overLimit(fleet: Fleet, slots: FreeSlots): Failure | undefined {
  const { maxSandboxes: most } = fleet;
  if (most === undefined) return undefined;
  const used = fleet.hosts().reduce((sum, host) => sum + slots.used(host), 0);
  if (used < most) return undefined;
  return errors.fail('S400', {
    problem: `the cluster has ${used} sandboxes of at most ${most} (cluster.max_sandboxes)`,
  });
}

/** Whether the machine refused before any work: sandbox::run also uses these codes for later steps, which it names. */
function isRefusal({ code, extra: { context } }: CallError): boolean {
  return REFUSED.has(code) && (typeof context !== 'string' || context.endsWith('step create'));
}

function refusalOf(fleet: Fleet, wish: Wish, refusals: readonly { host: FleetHost; error: CallError }[]): Failure {
  const last = refusals.at(-1);
  if (last?.error.code === 'invocation_stopped') return lostWhileRunning(last.host.name);
  if (last?.error.code === 'channel_send_failed') return unreachable(last.host.name);
  // Prefers a reason other than full machines, such as a size or an image.
  const other = refusals.find(({ error }) => error.code !== 'S400' || error.extra.fix != null);
  return other ? new PassedOn(other.error) : noHost(fleet, wish);
}

function noHost(fleet: Fleet, { node, isolation }: Wish): Failure {
  const hosts = fleet.hosts();
  if (isolation != null && !hosts.some(({ sandboxes }) => sandboxes.isolation === isolation)) {
    const problem = `no host reports isolation ${isolation} (${hosts.length} hosts)`;
    return errors.fail('S400', { problem, fix: { isolation: null } });
  }
  if (node != null) {
    const named = hosts.find(({ name }) => name === node);
    const why = !named ? 'is not in the cluster' : named.isDraining ? 'is draining' : 'has no room';
    return errors.fail('S400', { problem: `host ${node} ${why}: leave node out to use any host`, fix: { node: null } });
  }
  const draining = hosts.filter(({ isDraining }) => isDraining).length;
  const slots = hosts.reduce((sum, { sandboxes }) => sum + sandboxes.max, 0);
  const among = `${hosts.length} hosts with ${slots} slots${draining > 0 ? `, ${draining} of them draining` : ''}`;
  return errors.fail('S400', { problem: `no host has room (${among}): stop a sandbox, or try again later` });
}
