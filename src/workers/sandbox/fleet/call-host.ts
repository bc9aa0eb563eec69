/** Calls of the same function on another machine, with everything that the caller's call carries. */
import type { CallOptions, CallScope, Fleet, FunctionDef } from '#contract';
import { failureOf, notThere, unreachable, type Owned } from './host-failure.ts';

/** Time for the transport, added to the function's own deadline. */
const WAY_MS = 10_000;
const DEFAULT_MS = 120_000;

export type Called = Pick<FunctionDef<never>, 'id' | 'deadlineMs'>;

/** A caller that cancels still gets the answer, because a killed command reports how it ended. */
export function callHost(
  node: string,
  fn: Called,
  { payload = {}, scope, options = {} }: { payload?: unknown; scope: CallScope; options?: CallOptions },
): Promise<unknown> {
  const { bus, call, signal, emit } = scope;
  return bus.call(fn.id, payload, {
    namespace: node,
    timeoutMs: (fn.deadlineMs ?? DEFAULT_MS) + WAY_MS,
    cancel: signal,
    metadata: call.metadata,
    takesEncoded: true,
    ...(emit && { onEvent: emit }),
    ...options,
  });
}

/** Calls the machine that owns the sandbox or the job, with the payload as it came. */
export async function callOwner(fleet: Fleet, fn: Called, owned: Owned, scope: CallScope): Promise<unknown> {
  const node = fleet.nodeOf(owned.tag);
  if (!node || node.gone?.isOver) throw notThere(owned, node);
  if (node.gone) throw unreachable(node.name);
  try {
    return await callHost(node.name, fn, { payload: scope.call.payload, scope });
  } catch (error) {
    throw failureOf(error, owned, fleet);
  }
}
