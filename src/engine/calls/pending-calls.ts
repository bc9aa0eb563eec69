/**
 * The calls that wait for their answer, in the order they began.
 *
 * The id towards the executor is the caller's own unless that is taken or no UUID; then the engine lends one. A call is
 * in the lists of both its sessions too: whoever leaves finds there what ends with him.
 */
import { randomUUID } from 'node:crypto';

import type { Session } from '../session.ts';

/** A call that was put on a queue: its caller waits for the receipt only. */
export interface Enqueued {
  functionId: string;
  receiptId: string;
}

export interface Caller {
  session: Session;
  invocationId: string;
  enqueued?: Enqueued;
  /** Of its call, for the answer. */
  traceparent?: string | null;
  baggage?: string | null;
}

export interface PendingCall {
  /** The id the executor knows the call by. */
  id: string;
  functionId: string;
  executor: Session;
  /** Absent when nobody waits: a void call or an event. */
  caller?: Caller;
  startedAtMs: number;
  /** The same moment by the clock that durations are taken from. */
  startTick: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();

  begin(functionId: string, executor: Session, caller: Caller | undefined): PendingCall {
    const isUsable = caller && UUID.test(caller.invocationId) && !this.#calls.has(caller.invocationId);
    const id = isUsable ? caller.invocationId : randomUUID();
    const call = { id, functionId, executor, caller, startedAtMs: Date.now(), startTick: performance.now() };
    this.#calls.set(id, call);
    executor.serving.add(call);
    caller?.session.calling.add(call);
    return call;
  }

  find(id: string): PendingCall | undefined {
    return this.#calls.get(id);
  }

  forget(call: PendingCall): void {
    this.#calls.delete(call.id);
    call.executor.serving.delete(call);
    call.caller?.session.calling.delete(call);
  }

  /** So many, oldest first. */
  oldest(most: number): PendingCall[] {
    const calls: PendingCall[] = [];
    for (const call of this.#calls.values()) if (calls.push(call) >= most) break;
    return calls;
  }

  /** Those that wait still when their turn comes: giving up one may end others. */
  *begunBefore(momentMs: number): Generator<PendingCall> {
    for (const call of this.#calls.values()) {
      if (call.startedAtMs > momentMs) return;
      yield call;
    }
  }
}
