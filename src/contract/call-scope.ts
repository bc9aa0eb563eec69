/** What one call carries besides its payload. */
import type { Bus } from './bus.ts';
import type { Door } from './door.ts';
import type { Log } from './log.ts';

export interface CallScope {
  readonly callId: string;
  /** Aborts when the caller gave up, went away, or the function's deadline passed. */
  readonly signal: AbortSignal;
  /** As the signal does, but without making one: most calls end before anybody needs it. */
  throwIfAborted(): void;
  /** The bus this worker is on, for calls of its own. */
  readonly bus: Bus;
  readonly log: Log;
  /** The connection that called, where the engine knows it. */
  readonly callerId?: string;
  /** The door that a person or a model called through; undefined for a program on the bus. */
  readonly door?: Door;
}
