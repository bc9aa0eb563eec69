/** An event of a running call: JSON with a `type`. A surface that shows text shows `message`. */
export interface CallEvent {
  readonly type: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

/** Sent by the engine when a call whose caller wants events has sent none for a while. */
export const EVENT_RUNNING = 'running';
