/** The access rules of a running server, which a changed configuration replaces. */
import type { AccessControl, CalledFunction, Decision } from '#contract';
import type { Access } from './access.ts';
import type { Lookup } from './tokens/token-book.ts';

export class LiveAccess implements AccessControl {
  #current: Access;
  /** Tokens that were sent, by name, with the mark that each had then. */
  readonly #sent = new Map<string, string | undefined>();

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

  lookUp(secret: string): Lookup {
    const found = this.#current.lookUp(secret);
    if ('token' in found) {
      const { name } = found.token;
      if (!this.#sent.has(name)) this.#sent.set(name, this.#current.marks().get(name));
    }
    return found;
  }

  /** Tokens that were accepted, and were removed, replaced, given another policy or expired since; each is returned once. */
  takeGone(): string[] {
    const now = this.#current.marks();
    const gone = [...this.#sent].filter(([name, mark]) => now.get(name) !== mark).map(([name]) => name);
    for (const name of gone) this.#sent.delete(name);
    return gone;
  }

  decide(policy: string, fn: CalledFunction, payload: unknown): Decision {
    return this.#current.decide(policy, fn, payload);
  }
}
