/**
 * The principal of a connection that calls for itself.
 *
 * Its kind depends on how the connection was admitted. All connections with one token have one id, whatever their kind,
 * so that everything of a removed token ends. The label is the reported name, which the engine has ensured is
 * not the name of a worker in this process. It holds no reference to the session: the list of recent calls outlives
 * that.
 */
import type { Principal } from '#contract';
import type { Session } from './session.ts';

export function principalOf(session: Session): Principal {
  const { token, workerId, label, client, policy } = session;
  const kind = kindOf(session);
  return {
    id: token === undefined ? `${kind}:${workerId}` : `token:${token}`,
    kind,
    label: token === undefined ? label : `${label} (${token})`,
    client,
    grants: policy === undefined ? {} : { policy },
    ...(session.isOperator && { approves: true }),
  };
}

/** The principal without the right to approve: it holds only for calls that the operator makes, not for those made in its name. */
export function withoutApproval(principal: Principal): Principal {
  if (!principal.approves) return principal;
  const { approves: _, ...plain } = principal;
  return plain;
}

/** Whether this is the principal with the id, or a client for which it calls. */
export function isOrActsFor(principal: Principal, id: string): boolean {
  return principal.id === id || principal.id.startsWith(`${id}#`);
}

function kindOf({ isOwnPage, isOperator, isWorker, isInProcess, token }: Session): Principal['kind'] {
  if (isOwnPage) return 'page';
  if (isOperator) return 'operator';
  if (isWorker) return 'worker';
  if (isInProcess) return 'operator';
  return token === undefined ? 'local' : 'token';
}
