/** One call in the engine: its function, principal, executor and waiting caller. */
import type { InvokeFrame } from '#protocol';
import type { CallSpan, Principal } from '#contract';
import type { Session } from '../session.ts';
import type { Executor } from './executor.ts';
import type { Reading } from './reading.ts';

/** A queued call: its caller waits only for the receipt. */
export interface Enqueued {
  functionId: string;
  receiptId: string;
}

/** The connection that waits for the answer. */
export interface Waiting {
  session: Session;
  invocationId: string;
  enqueued?: Enqueued;
  /** Whether it accepts events of the call. */
  wantsEvents?: boolean;
  /** Whether it accepts the changes of the call. */
  wantsChanges?: boolean;
  /** Whether it can ask its own person to approve. */
  takesQuestions?: boolean;
  /** Trace of its call, for the answer. */
  traceparent?: string | null;
  baggage?: string | null;
}

/** The principal of a call, and its parent call. */
export interface Origin {
  principal: Principal;
  via?: string;
  /** Whether a person approved it, or the call that it is made for. */
  isApproved?: boolean;
  /** The rule of its principal's policy that decided. */
  rule?: string;
}

/** The waiting caller; absent for a void call or an event. */
export interface From extends Origin {
  waiting?: Waiting;
}

export interface Call extends From {
  /** The call id that the executor uses. */
  id: string;
  functionId: string;
  /** Namespace of the function. */
  namespace: string;
  executor: Executor;
  reading: Reading;
  /** Text that distinguishes it from other calls of its function. */
  line?: string | undefined;
  /** Its arguments as the audit shows them, if it is recorded there. */
  audited?: { arguments: unknown } | undefined;
  /** Its span, if calls are traced. */
  span?: CallSpan | undefined;
  /** Whether its caller or a console page wants its changes; comparing files would make every edit slower. */
  wantsChanges: boolean;
  startedAtMs: number;
  /** The same moment on the monotonic clock, for durations. */
  startTick: number;
}

/** Undefined if the peer wants no answer. */
export function waitingOf(session: Session, frame: InvokeFrame): Waiting | undefined {
  const { action, invocation_id: invocationId, traceparent, baggage } = frame;
  if (action?.type === 'void' || invocationId == null) return undefined;
  const wantsEvents = frame.wants_events === true;
  const wantsChanges = frame.wants_changes === true;
  const takesQuestions = frame.takes_questions === true;
  return { session, invocationId, traceparent, baggage, wantsEvents, wantsChanges, takesQuestions };
}
