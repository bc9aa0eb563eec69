/** A person, at a console page or with the operator's key: only people may act on the calls of others. */
import type { CallScope, Principal } from '#contract';
import { fail } from '../errors.ts';
import type { Session } from '../session.ts';

/** Throws for a page without the key: any program that reaches the port can claim to be a page. */
export function byOperator(sessions: ReadonlyMap<string, Session>, { call: { callerId } }: CallScope): Principal {
  const session = sessions.get(callerId ?? '');
  if (!session?.isOperator) throw fail('operator_only', {});
  return session.principal;
}

/** Throws for every other caller; a caller with a policy is not a page. */
export function byPerson(sessions: ReadonlyMap<string, Session>, { call: { callerId } }: CallScope): Principal {
  const session = sessions.get(callerId ?? '');
  if (!session?.isOwnPage && !session?.isOperator) throw fail('console_only', {});
  return session.principal;
}
