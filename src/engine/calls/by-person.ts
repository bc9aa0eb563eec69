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

/**
 * As `byOperator`, for a function that operators of other nodes call too: their node vouches for the key. Programs in
 * the process of the engine need none; surfaces call with the principals of their callers.
 */
export function requireOperator(
  sessions: ReadonlyMap<string, Session>,
  { call: { callerId, principal, via }, door }: CallScope,
  facts: { what: string; command: string },
): void {
  const session = sessions.get(callerId ?? '');
  const isOwn = session?.isInProcess === true && principal === session.principal;
  const hasKey = principal?.approves === true;
  if (via != null || door === 'model' || (!isOwn && !hasKey)) throw fail('operator_only', facts);
}
