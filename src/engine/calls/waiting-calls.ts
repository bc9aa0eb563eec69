/**
 * Calls that wait in the engine: because their caller is paused, or for a person's approval.
 *
 * A waiting call is an ordinary open call with this as its executor, so that its caller, its deadline, a lost
 * connection and an operator end it like any other.
 */
import type { SendOutcome } from '#protocol';
import type { Call } from './call.ts';
import type { Executor, Request } from './executor.ts';

/** A total for all callers: each waiting call keeps its payload in memory. */
const MAX_WAITING = 1_000;

export interface WaitingCall {
  readonly call: Call;
  readonly request: Request;
}

export class WaitingCalls implements Executor {
  readonly label: string;
  readonly features: ReadonlySet<string> = new Set();
  readonly serving = new Set<Call>();
  readonly #requests = new Map<Call, Request>();

  constructor(label: string) {
    this.label = label;
  }

  execute(call: Call, request: Request): SendOutcome {
    for (const known of this.#requests.keys()) if (!this.serving.has(known)) this.#requests.delete(known);
    if (this.serving.size > MAX_WAITING) return 'full';
    this.#requests.set(call, request);
    return 'sent';
  }

  cancel(): void {}

  /** Removes and returns the calls that fit, oldest first. */
  take(fits: (call: Call, request: Request) => boolean): WaitingCall[] {
    const taken: WaitingCall[] = [];
    for (const [call, request] of this.#requests) {
      const isEnded = !this.serving.has(call);
      if (!isEnded && !fits(call, request)) continue;
      this.#requests.delete(call);
      if (!isEnded) taken.push({ call, request });
    }
    return taken;
  }
}
