/**
 * The principal of a session's calls, with the grants of its offer.
 *
 * It is the same object until the grants or the client change: the engine caches callers by it, and a new object for
 * each call would cost as much as the rest of the engine.
 */
import { withClient, type Grants, type Principal } from '#contract';
import type { Caller } from '#protocol';

const NO_GRANTS: Grants = {};

export function callerOf(
  principal: Principal,
  { client, session }: { client: () => Caller['client']; session: number | undefined },
): (grants?: Grants) => Principal {
  let made: { grants: Grants; client: Caller['client']; caller: Principal } | undefined;
  return (grants = NO_GRANTS) => {
    const now = client();
    if (made?.grants !== grants || made.client !== now) {
      const limited = { ...principal, grants: { ...principal.grants, ...grants } };
      made = { grants, client: now, caller: withClient(limited, now, session) };
    }
    return made.caller;
  };
}
