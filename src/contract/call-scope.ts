/** One call as its handler sees it, besides the request. */
import type { CallEvent, Caller, Change } from '#protocol';
import type { Bus } from './bus.ts';
import type { Door } from './doors/door.ts';
import type { Log } from './log.ts';

export interface IncomingCall {
  readonly callId: string;
  readonly payload: unknown;
  readonly metadata?: unknown;
  readonly traceparent?: string | null;
  readonly baggage?: string | null;
  /** Absent if the engine does not send it. */
  readonly principal?: Caller;
  /** The parent call. */
  readonly via?: string | null;
  /** Whether a caller or console asked for the changes of calls. */
  readonly wantsChanges?: boolean;
  /** Receives the journal records of the call; absent if the engine did not request them. */
  readonly journaled?: Change[];
  /** The connection that called, if the engine knows it. */
  readonly callerId?: string;
}

export interface CallScope {
  readonly call: IncomingCall;
  /** The function that was called. */
  readonly functionId: string;
  /** Aborts when the caller cancelled or disconnected, or the function's deadline passed. */
  readonly signal: AbortSignal;
  /** Like `signal.throwIfAborted()`, but without creating the signal: most calls end before they need it. */
  throwIfAborted(): void;
  /** The bus of this worker. Calls on it use the caller's principal, and the trace and metadata of this call. */
  readonly bus: Bus;
  /** Every line carries the id of the call and its principal. */
  readonly log: Log;
  /** Reports a file change of the call; undefined when no caller asked, so that none is computed. */
  readonly noteChange?: ((change: Change) => void) | undefined;
  /** Reports an event of the call; undefined when its caller did not subscribe to events. */
  readonly emit?: ((event: CallEvent) => void) | undefined;
  /** The surface that a person or a model called through; undefined for a program on the bus. */
  readonly door?: Door;
}
