/** The principal of a connection that calls for another program: named by that program, possibly with fewer rights. */
import { cleanText, makePrincipal, withClient, type Grants, type Principal } from '#contract';
import { OnBehalfSchema, type Caller, type InvokeFrame, type OnBehalf } from '#protocol';
import type { NodeName } from '../other-nodes.ts';
import type { Session } from '../session.ts';
import { withoutApproval } from '../session-principal.ts';
import type { Origin } from './call.ts';

/** For a call with an invalid `on_behalf_of`: allows nothing, so that no call exceeds the intended rights. */
export const UNREADABLE: Grants = { only: [] };

export function principalFor({ principal, token, label }: Session, named: unknown): Principal {
  if (named == null) return principal;
  const parsed = OnBehalfSchema.safeParse(named);
  if (!parsed.success) return { ...principal, grants: UNREADABLE };
  const { client, only, read_only: isReadOnly } = parsed.data;
  const { grants } = principal;
  return withClient(
    { ...withoutApproval(principal), label: token ?? label, grants: { ...grants, only, isReadOnly } },
    client,
  );
}

/** The grants of a principal, as sent to another node. */
export function toOnBehalf({ only, isReadOnly }: Grants): OnBehalf {
  return { ...(only && { only: [...only] }), ...(isReadOnly && { read_only: true }) };
}

/** Cached by the caller, which the link of a node creates once and not for each call. */
const vouched = new WeakMap<
  Caller,
  { named: unknown; node: NodeName; policy: string | undefined; principal: Principal }
>();

/**
 * The principal of a call from another node, as that node vouches for it. Its id names the node; `policy` is this
 * node's.
 */
export function vouchedFor(
  node: NodeName,
  { caller, via, on_behalf_of: named }: Partial<InvokeFrame>,
  policy?: string,
): Origin {
  const origin = via == null ? {} : { via };
  if (caller == null) return { ...origin, principal: makePrincipal('worker', node.name, { policy }) };
  const known = vouched.get(caller);
  if (known && known.named === named && known.node === node && known.policy === policy) {
    return { ...origin, principal: known.principal };
  }
  const principal = principalAt(node, caller, named, policy);
  vouched.set(caller, { named, node, policy, principal });
  return { ...origin, principal };
}

function principalAt({ name }: NodeName, caller: Caller, named: unknown, policy: string | undefined): Principal {
  const { id, kind, label, client, approves } = caller;
  const parsed = OnBehalfSchema.safeParse(named ?? {});
  const grants = parsed.success ? { only: parsed.data.only, isReadOnly: parsed.data.read_only, policy } : UNREADABLE;
  const shown = { id: `${cleanText(id)}@${name}`, label: `${cleanText(label)} at ${name}` };
  return { ...shown, kind, client, grants, ...(approves && { approves }) };
}
