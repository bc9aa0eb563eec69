/** The access rules of a running server, which a changed configuration replaces. */
import type { AccessControl, CalledFunction, Decision } from '#contract';
import type { Access } from './access.ts';
import type { Lookup } from './tokens/token-book.ts';

export class LiveAccess implements AccessControl {
  #current: Access;

  constructor(access: Access) {
    this.#current = access;
  }

  replace(access: Access): void {
    this.#current = access;
  }

  get nodes(): string | undefined {
    return this.#current.nodes;
  }

  get askTimeoutMs(): number {
    return this.#current.askTimeoutMs;
  }

  get local(): string | undefined {
    return this.#current.local;
  }

  get hasTokens(): boolean {
    return this.#current.hasTokens;
  }

  /** The tokens that are accepted now, with the policy of each. */
  tokens(): Map<string, string | undefined> {
    return this.#current.tokens();
  }

  lookUp(secret: string): Lookup {
    return this.#current.lookUp(secret);
  }

  decide(policy: string, fn: CalledFunction, payload: unknown): Decision {
    return this.#current.decide(policy, fn, payload);
  }
}
