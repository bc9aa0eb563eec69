/**
 * One process, wherever it runs: on this host, in a guest, or in a sandbox of another worker.
 *
 * `execution.ts` is its usual reader; a caller that streams output reads `output` itself.
 */

export type OutputStream = 'stdout' | 'stderr';

export interface OutputPiece {
  readonly stream: OutputStream;
  /** Valid until the next piece is read; copy it to keep it. */
  readonly bytes: Buffer;
}

export interface ProcessInput {
  /** Resolves when there is room for more, or when the process has closed its input. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Whether the process has closed its input; absent where that is not known. */
  readonly isClosed?: boolean;
}

/** How it ended. */
export interface ProcessEnd {
  /** Null when a signal ended it; a guest reports its own signals as 128 plus their number. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** Whether it hit its timeout; set only where the remote side enforces the timeout. */
  readonly timedOut?: boolean;
  /** The first output of each stream as the remote side reports it, instead of the pieces of `output`. */
  readonly printed?: Readonly<Record<OutputStream, Uint8Array>>;
  /** Whether the remote side dropped bytes because they exceeded its cap. */
  readonly dropped?: Readonly<Record<OutputStream, boolean>>;
}

export interface Process {
  /** Iterate once, to the end. A slow reader blocks the process, as a pipe would. */
  readonly output: AsyncIterable<OutputPiece>;
  /** Absent when the process has no input. */
  readonly input?: ProcessInput | undefined;
  /** Sets the size of its terminal; absent without one. */
  readonly resize?: ((size: { columns: number; rows: number }) => void) | undefined;
  /**
   * SIGKILL is the only signal that every implementation can send: to the process and its descendants. Resolves when
   * they are gone.
   */
  signal(name: 'SIGKILL'): Promise<void>;
  /** Sends another signal to its process group; absent where that is not possible. */
  sendSignal?(name: NodeJS.Signals): Promise<void>;
  /** Rejects when the process could not be started, or when its exit status is unknown. */
  readonly done: Promise<ProcessEnd>;
}
