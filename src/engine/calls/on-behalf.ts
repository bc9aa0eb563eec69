/** The principal of a connection that calls for a program of its own: named by that program, and held to less when asked. */
import { withClient, type Grants, type Principal } from '#contract';
import { OnBehalfSchema } from '#protocol';
import type { Session } from '../session.ts';

/** Of a call whose `on_behalf_of` cannot be read, so that nothing is called beyond what was meant. */
export const UNREADABLE: Grants = { only: [] };

export function principalFor({ principal, token, label }: Session, told: unknown): Principal {
  if (told == null) return principal;
  const parsed = OnBehalfSchema.safeParse(told);
  if (!parsed.success) return { ...principal, grants: UNREADABLE };
  const { client, only, read_only: isReadOnly } = parsed.data;
  return withClient({ ...principal, label: token ?? label, grants: { only, isReadOnly } }, client);
}
