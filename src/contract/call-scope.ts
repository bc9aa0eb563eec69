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
  /** Absent where the engine does not tell. */
  readonly principal?: Caller;
  /** The call that this one is made for. */
  readonly via?: string | null;
  /** Whether somebody watches what calls change. */
  readonly wantsChanges?: boolean;
  /** The connection that called, where the engine knows it. */
  readonly callerId?: string;
}

export interface CallScope {
  readonly call: IncomingCall;
  /** Aborts when the caller gave up, went away, or the function's deadline passed. */
  readonly signal: AbortSignal;
  /** As the signal does, but without making one: most calls end before anybody needs it. */
  throwIfAborted(): void;
  /** The bus this worker is on. Calls on it are made in the caller's name, with the trace and the metadata of this call. */
  readonly bus: Bus;
  /** Every line carries the id of the call and its principal. */
  readonly log: Log;
  /** Takes the report of what the call changed in a file; undefined when nobody wants to know, so that none is made. */
  readonly noteChange?: ((change: Change) => void) | undefined;
  /** Reports an event of the call; undefined when its caller takes none. */
  readonly emit?: ((event: CallEvent) => void) | undefined;
  /** The door that a person or a model called through; undefined for a program on the bus. */
  readonly door?: Door;
}
