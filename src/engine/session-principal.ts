/**
 * The principal of a connection: what calls are made in the name of when it speaks for itself.
 *
 * How it got in decides the kind. The label is the name that it reports, which the engine has made sure is not the name of a
 * worker in this process. It holds nothing of the session: the list of the latest calls outlives that.
 */
import type { Principal } from '#contract';
import type { Session } from './session.ts';

export function principalOf(session: Session): Principal {
  const { token, workerId, label, info } = session;
  const kind = kindOf(session);
  return {
    id: `${kind}:${kind === 'token' ? token : workerId}`,
    kind,
    label: token === undefined ? label : `${label} (${token})`,
    client: info && { name: info.name, version: info.version },
    grants: {},
  };
}

function kindOf({ isOwnPage, isWorker, isInProcess, token }: Session): Principal['kind'] {
  if (isOwnPage) return 'page';
  if (isWorker) return 'worker';
  if (isInProcess) return 'operator';
  return token === undefined ? 'local' : 'token';
}
