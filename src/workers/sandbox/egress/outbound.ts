/**
 * From what a program asks for to a connection, or to the reason why there is none; every decision is written down.
 *
 * The rules are asked before a name is looked up, so no name leaves this machine that no rule allows. Then every address
 * that was found has to pass, and those are dialled: what the name means a moment later is of no interest.
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

  /** Fails with a `Refusal`, and with nothing else. */
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
      log.add({ ...place(target), verdict: 'allowed', rule: verdict.rule, reason: null }, socket);
      return { socket, target };
    } catch (error) {
      throw this.#fail(target, new Refusal('unreachable', `${spelled(target)} does not answer`, null, error));
    }
  }

  /** Ends what is open, and opens no more. */
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
    this.#options.log.refuse({ ...place(target), rule, reason }, refusal.advice);
    return refusal;
  }

  #fail(target: Target, refusal: Refusal): Refusal {
    this.#options.log.add({ ...place(target), verdict: 'failed', rule: null, reason: refusal.reason });
    return refusal;
  }
}

export interface Opened {
  readonly socket: Socket;
  readonly target: Target;
}

const place = ({ host, port }: Target) => ({ host: hostText(host), port });
