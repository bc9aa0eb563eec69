/**
 * The principal of a connection that calls for itself.
 *
 * Its kind depends on how the connection was admitted. The label is the reported name, which the engine has ensured is
 * not the name of a worker in this process. It holds no reference to the session: the list of recent calls outlives
 * that.
 */
import type { Principal } from '#contract';
import type { Session } from './session.ts';

export function principalOf(session: Session): Principal {
  const { token, workerId, label, info, policy } = session;
  const kind = kindOf(session);
  return {
    id: `${kind}:${kind === 'token' ? token : workerId}`,
    kind,
    label: token === undefined ? label : `${label} (${token})`,
    client: info && { name: info.name, version: info.version },
    grants: policy === undefined ? {} : { policy },
    ...(session.isOperator && { approves: true }),
  };
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
