/** One call on its way through the engine: what it is, for whom, who works on it and who waits. */
import type { Principal } from '#contract';
import type { Session } from '../session.ts';
import type { Executor } from './executor.ts';

/** A call that was put on a queue: its caller waits for the receipt only. */
export interface Enqueued {
  functionId: string;
  receiptId: string;
}

/** The connection that waits for the answer. */
export interface Waiting {
  session: Session;
  invocationId: string;
  enqueued?: Enqueued;
  /** Whether it takes events of the call. */
  wantsEvents?: boolean;
  /** Whether it takes what the call changed. */
  wantsChanges?: boolean;
  /** Of its call, for the answer. */
  traceparent?: string | null;
  baggage?: string | null;
}

/** In whose name a call is made, and for which other call. */
export interface Origin {
  principal: Principal;
  via?: string;
}

/** With whoever waits for it; absent when nobody does: a void call or an event. */
export interface From extends Origin {
  waiting?: Waiting;
}

export interface Call extends From {
  /** The id the executor knows the call by. */
  id: string;
  functionId: string;
  /** Where the function is. */
  namespace: string;
  executor: Executor;
  /** Whether its caller or a page wants to know what it changes. */
  wantsChanges: boolean;
  startedAtMs: number;
  /** The same moment by the clock that durations are taken from. */
  startTick: number;
}
