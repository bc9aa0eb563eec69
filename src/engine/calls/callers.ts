/** The callers that the engine knows: when each came and called last, and which of them an operator has paused. */
import { callerKey } from '#contract';
import type { Caller } from '#protocol';
import type { Session } from '../session.ts';

/** Beyond it the caller that was quiet longest is forgotten, a paused one last. */
const MAX_CALLERS = 500;

export interface KnownCaller {
  readonly key: string;
  readonly principal: Caller;
  readonly firstSeenMs: number;
  lastSeenMs: number;
  /** Calls that it made itself, without those that workers made for it. */
  calls: number;
  isPaused: boolean;
  /** Set by a surface that knows when its caller connects and disconnects. */
  isHere?: boolean;
}

export class Callers {
  /** By key, the caller that was quiet longest first. */
  readonly #known = new Map<string, KnownCaller>();
  /** Cache: a connection has one principal for all its calls, so these need no key. */
  readonly #byPrincipal = new WeakMap<Caller, KnownCaller>();
  #latest: KnownCaller | undefined;
  /** Most engines have no paused caller, and then a call needs no lookup. */
  #pausedCount = 0;

  called(principal: Caller): KnownCaller {
    const known = this.#seen(principal);
    known.calls += 1;
    // It is back, and its surface may not report that.
    if (known.isHere === false) delete known.isHere;
    return known;
  }

  /** A surface reports that a caller connected or disconnected. */
  present(principal: Caller, isHere: boolean): void {
    this.#seen(principal).isHere = isHere;
  }

  /** A connection with this principal closed. All connections with one token have one id: others may be open still. */
  left(principalId: string, sessions: Iterable<Session>): void {
    for (const { principal } of sessions) if (principal.id === principalId) return;
    for (const known of this.#known.values()) if (known.principal.id === principalId) known.isHere = false;
  }

  get isAnyPaused(): boolean {
    return this.#pausedCount > 0;
  }

  isPaused(principal: Caller): boolean {
    return this.#known.get(callerKey(principal))?.isPaused === true;
  }

  /** The paused callers that hold the calls of one: itself, and the former names of its connections. */
  pausing(key: string, sessions: Iterable<Session>): KnownCaller[] {
    if (!this.isAnyPaused) return [];
    const keys = new Set([key]);
    for (const { isInProcess, principal, principals } of sessions) {
      if (!isInProcess && callerKey(principal) === key) for (const one of principals) keys.add(callerKey(one));
    }
    return [...keys].flatMap((one) => this.#known.get(one) ?? []).filter(({ isPaused }) => isPaused);
  }

  setPaused(known: KnownCaller, isPaused: boolean): void {
    if (known.isPaused !== isPaused) this.#pausedCount += isPaused ? 1 : -1;
    known.isPaused = isPaused;
  }

  find(key: string): KnownCaller | undefined {
    return this.#known.get(key);
  }

  list(): KnownCaller[] {
    return [...this.#known.values()];
  }

  #seen(principal: Caller): KnownCaller {
    const nowMs = Date.now();
    const found = this.#byPrincipal.get(principal);
    if (found !== undefined && found === this.#latest) {
      found.lastSeenMs = nowMs;
      return found;
    }
    const key = callerKey(principal);
    const known = this.#known.get(key) ?? {
      ...{ key, principal, firstSeenMs: nowMs, lastSeenMs: nowMs },
      ...{ calls: 0, isPaused: false },
    };
    known.lastSeenMs = nowMs;
    this.#byPrincipal.set(principal, known);
    this.#latest = known;
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > MAX_CALLERS) this.#forgetOne();
    return known;
  }

  #forgetOne(): void {
    const [oldest] = this.#known.values();
    const quiet = this.list().find(({ isPaused }) => !isPaused) ?? oldest!;
    this.setPaused(quiet, false);
    this.#known.delete(quiet.key);
  }
}
