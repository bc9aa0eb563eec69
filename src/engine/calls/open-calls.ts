/**
 * The calls that wait for their answer, in the order they began.
 *
 * The id towards the executor is the caller's own unless that is taken or no UUID; then the engine lends one. A call is
 * in the lists of its executor and of the session that waits too: when a session closes, they list the calls to end.
 */
import { randomUUID } from 'node:crypto';

import type { Call, Waiting } from './call.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export class OpenCalls {
  readonly #calls = new Map<string, Call>();

  /** The id of a call that begins. */
  idFor(waiting: Waiting | undefined): string {
    const isUsable = waiting && UUID.test(waiting.invocationId) && !this.#calls.has(waiting.invocationId);
    return isUsable ? waiting.invocationId : randomUUID();
  }

  begin(call: Call): void {
    this.#calls.set(call.id, call);
    call.executor.serving.add(call);
    call.waiting?.session.calling.add(call);
  }

  find(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  /** Whether it was still open: a call ends once. */
  end(call: Call): boolean {
    if (this.#calls.get(call.id) !== call) return false;
    this.#calls.delete(call.id);
    call.executor.serving.delete(call);
    call.waiting?.session.calling.delete(call);
    return true;
  }

  /** Oldest first. */
  values(): Iterable<Call> {
    return this.#calls.values();
  }

  /** Those that wait still when their turn comes: giving up one may end others. */
  *begunBefore(momentMs: number): Generator<Call> {
    for (const call of this.#calls.values()) {
      if (call.startedAtMs > momentMs) return;
      yield call;
    }
  }
}
