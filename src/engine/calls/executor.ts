/**
 * An executor of calls: a peer behind a link, another node of the cluster behind one, or the engine itself.
 *
 * It gets a call and a sink, and reports everything about the call to the sink.
 */
import type { EncodedFrame, EventFrame, InvokeFrame, ResultFrame, SendOutcome } from '#protocol';
import type { NodeName } from '../other-nodes.ts';
import type { Session } from '../session.ts';
import type { Call } from './call.ts';

/** A call as its caller sent it, with the bytes if it came from a socket. Not kept while the call runs. */
export interface Request {
  readonly frame: InvokeFrame;
  readonly encoded?: EncodedFrame;
  /** The connection it came on; absent for an event of the engine. */
  readonly session?: Session;
}

export interface Sink {
  /** Reports an event of the call to a caller that asked for events. */
  event(call: Call, frame: EventFrame, encoded?: EncodedFrame): void;
  /** Ends the call. Later reports are dropped. */
  result(call: Call, frame: ResultFrame, encoded?: EncodedFrame): void;
}

export interface Executor {
  /** Name for logs and lists. */
  readonly label: string;
  /** The other node of the cluster that it is; absent for an executor of this node. */
  readonly node?: NodeName | undefined;
  /** Optional features that it announced. */
  readonly features: ReadonlySet<string>;
  /** The calls it works on. */
  readonly serving: Set<Call>;
  /** Takes the call, or returns why it cannot. */
  execute(call: Call, request: Request, sink: Sink): SendOutcome;
  /** Asks it to stop. `wait`: whether its answer is still wanted. */
  cancel(callId: string, options: { wait: boolean }): void;
}
