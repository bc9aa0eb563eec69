/** One side of a stream between two nodes: a source takes from a channel, a sink puts into one. */
import type { Control, Piece } from './messages.ts';

export type State = Pick<Control, 'ack' | 'until'>;

/** Sends messages and state to the other side. */
export interface Line {
  pack(seq: number, pieces: readonly Piece[]): Uint8Array;
  publish(message: Uint8Array): void;
  send(state: State & { gone?: true }): void;
}

export interface End {
  /** False when this end of the channel was taken before. */
  readonly isTaken: boolean;
  /** Nothing is left to send or to receive. */
  readonly isOver: boolean;
  /** State to send to the other side. */
  report(): State;
  takeState(state: State): void;
  takeData(seq: number, pieces: readonly Piece[]): void;
  tick(nowMs: number): void;
  /** The other side is gone, or has no more use for the stream. */
  close(): void;
}
