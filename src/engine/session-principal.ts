/**
 * The principal of a connection: what calls are made in the name of when it speaks for itself.
 *
 * How it got in decides the kind. Its label follows the name that it reports, which the engine has made sure is not the
 * name of a worker in this process.
 */
import type { Grants, Principal } from '#contract';
import type { Session } from './session.ts';

export class SessionPrincipal implements Principal {
  readonly grants: Grants = {};
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  get kind(): Principal['kind'] {
    const { isOwnPage, isWorker, isInProcess, token } = this.#session;
    if (isOwnPage) return 'page';
    if (isWorker) return 'worker';
    if (isInProcess) return 'operator';
    return token === undefined ? 'local' : 'token';
  }

  get id(): string {
    const { token, workerId } = this.#session;
    const { kind } = this;
    return `${kind}:${kind === 'token' ? token : workerId}`;
  }

  get label(): string {
    const { token, label } = this.#session;
    return token === undefined ? label : `${label} (${token})`;
  }

  get client(): Principal['client'] {
    const { info } = this.#session;
    return info && { name: info.name, version: info.version };
  }
}
