/**
 * Turns a program's request into a connection, or into the reason for a refusal; every decision is recorded.
 *
 * The rules are checked before a name is resolved, so a name that no rule allows never leaves this machine. Then every
 * resolved address has to pass, and those are dialled: a later change of the name has no effect.
 */
import type { Socket } from 'node:net';

import type { EgressLog } from './egress-log.ts';
import type { Network } from './network.ts';
import type { EgressPolicy, Verdict } from './policy.ts';
import { Refusal, refusalOf } from './refusal.ts';
import { HOST_NAME } from './rule.ts';
import { hostText, readAuthority, spelled, TargetError, type Target } from './target.ts';

const LOOPBACK = '127.0.0.1';

export interface ExitOptions {
  readonly policy: EgressPolicy;
  readonly network: Network;
  readonly log: EgressLog;
  readonly dialMs: number;
  readonly idleMs: number;
}

export class Exit {
  readonly #options: ExitOptions;
  readonly #open = new Set<Socket>();
  readonly #closed = new AbortController();

  constructor(options: ExitOptions) {
    this.#options = options;
  }

  /** Throws only `Refusal`. */
  async open(
    authority: string,
    { defaultPort, signal }: { defaultPort?: number; signal: AbortSignal },
  ): Promise<Opened> {
    const target = this.#read(authority, defaultPort);
    const { policy, network, log, dialMs, idleMs } = this.#options;
    const verdict = policy.judge(target);
    if (!verdict.isAllowed) throw this.#refuse(target, verdict);

    const inTime = AbortSignal.any([signal, this.#closed.signal, AbortSignal.timeout(dialMs)]);
    const addresses = await this.#find(target, inTime);
    for (const address of addresses) {
      const admitted = policy.admits(address, target);
      if (!admitted.isAllowed) throw this.#refuse(target, admitted);
    }
    try {
      const socket = await network.dial(addresses, target.port, inTime);
      this.#open.add(socket);
      socket.on('error', () => {}).once('close', () => this.#open.delete(socket));
      if (inTime.aborted) socket.destroy();
      socket.setTimeout(idleMs, () => socket.destroy());
      log.add({ ...logged(target), verdict: 'allowed', rule: verdict.rule, reason: null }, socket);
      return { socket, target };
    } catch (error) {
      throw this.#fail(target, new Refusal('unreachable', `${spelled(target)} does not answer`, null, error));
    }
  }

  /** Closes all connections, and opens no more. */
  close(): void {
    this.#closed.abort();
    for (const socket of this.#open) socket.destroy();
  }

  #read(authority: string, defaultPort?: number): Target {
    try {
      return readAuthority(authority, defaultPort);
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      const reason = error.message;
      const shown = JSON.stringify(authority.slice(0, 100));
      const refusal = new Refusal('bad_request', `${shown} is not a host and port: ${reason}`);
      this.#options.log.refuse({ host: authority, port: 0, rule: null, reason }, refusal.advice);
      throw refusal;
    }
  }

  async #find(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    const { host } = target;
    if (host.kind === 'address') return [host.address];
    if (host.name === HOST_NAME) return [LOOPBACK];
    try {
      return await this.#options.network.lookup(host.name, signal);
    } catch (error) {
      throw this.#fail(target, new Refusal('not_found', `${host.name} was not found`, null, error));
    }
  }

  #refuse(target: Target, verdict: Verdict & { isAllowed: false }): Refusal {
    const { reason, rule } = verdict;
    const refusal = refusalOf(target, verdict, this.#options.policy);
    this.#options.log.refuse({ ...logged(target), rule, reason }, refusal.advice);
    return refusal;
  }

  #fail(target: Target, refusal: Refusal): Refusal {
    this.#options.log.add({ ...logged(target), verdict: 'failed', rule: null, reason: refusal.reason });
    return refusal;
  }
}

export interface Opened {
  readonly socket: Socket;
  readonly target: Target;
}

const logged = ({ host, port }: Target) => ({ host: hostText(host), port });
