/** The principal of a connection that calls for another program: named by that program, possibly with fewer rights. */
import { withClient, type Grants, type Principal } from '#contract';
import { OnBehalfSchema } from '#protocol';
import type { Session } from '../session.ts';

/** For a call with an invalid `on_behalf_of`: allows nothing, so that no call exceeds the intended rights. */
export const UNREADABLE: Grants = { only: [] };

export function principalFor({ principal, token, label }: Session, named: unknown): Principal {
  if (named == null) return principal;
  const parsed = OnBehalfSchema.safeParse(named);
  if (!parsed.success) return { ...principal, grants: UNREADABLE };
  const { client, only, read_only: isReadOnly } = parsed.data;
  return withClient({ ...principal, label: token ?? label, grants: { ...principal.grants, only, isReadOnly } }, client);
}
