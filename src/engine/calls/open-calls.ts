/**
 * The calls that wait for their answer, in the order they began.
 *
 * The executor gets the caller's own call id, unless that is in use or not a UUID; then the engine makes one. A call is
 * also in the lists of its executor and of the waiting session: when a session closes, they list the calls to end.
 */
import { randomUUID } from 'node:crypto';

import type { Call, Waiting } from './call.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export class OpenCalls {
  readonly #calls = new Map<string, Call>();
  /** Called for every call that ended. */
  onEnded: (call: Call) => void = () => {};

  /** Chooses the id of a new call. */
  idFor(waiting: Waiting | undefined): string {
    const isUsable = waiting && UUID.test(waiting.invocationId) && !this.#calls.has(waiting.invocationId);
    return isUsable ? waiting.invocationId : randomUUID();
  }

  begin(call: Call): void {
    this.#calls.set(call.id, call);
    call.executor.serving.add(call);
    call.waiting?.session.calling.add(call);
  }

  get count(): number {
    return this.#calls.size;
  }

  find(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  /** Returns whether it was still open: a call ends once. */
  end(call: Call): boolean {
    if (this.#calls.get(call.id) !== call) return false;
    this.#calls.delete(call.id);
    call.executor.serving.delete(call);
    call.waiting?.session.calling.delete(call);
    this.onEnded(call);
    return true;
  }

  /** Oldest first. */
  values(): Iterable<Call> {
    return this.#calls.values();
  }

  /** Skips calls that an earlier iteration has already ended. */
  *begunBefore(momentMs: number): Generator<Call> {
    for (const call of this.#calls.values()) {
      if (call.startedAtMs > momentMs) return;
      yield call;
    }
  }
}
