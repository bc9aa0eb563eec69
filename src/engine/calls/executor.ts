/**
 * Whoever works on calls: a peer behind a link, or the engine itself.
 *
 * It is handed a call and a sink. Everything it has to say about the call goes to the sink, once it knows.
 */
import type { EncodedFrame, EventFrame, InvokeFrame, ResultFrame, SendOutcome } from '#protocol';
import type { Session } from '../session.ts';
import type { Call } from './call.ts';

/** A call as its caller sent it; the bytes where they came from a socket. Not kept while the call runs. */
export interface Request {
  readonly frame: InvokeFrame;
  readonly encoded?: EncodedFrame;
  /** The connection it came on; absent for an event of the engine. */
  readonly session?: Session;
}

export interface Sink {
  /** What the call reports before its end, to a caller that asked for it. */
  event(call: Call, frame: EventFrame, encoded?: EncodedFrame): void;
  /** The end of a call. What comes after it is dropped. */
  result(call: Call, frame: ResultFrame, encoded?: EncodedFrame): void;
}

export interface Executor {
  /** For logs and lists. */
  readonly label: string;
  /** Optional abilities that it announced. */
  readonly features: ReadonlySet<string>;
  /** The calls it works on. */
  readonly serving: Set<Call>;
  /** Takes the call, or says that it cannot. */
  execute(call: Call, request: Request, sink: Sink): SendOutcome;
  /** Nobody waits for this call any more. */
  cancel(callId: string): void;
}
