/**
 * One process, wherever it runs: on this host, in a guest, or in a sandbox that another worker keeps.
 *
 * `execution.ts` is its usual reader; whoever shows output as it comes reads it from the same place.
 */

export type OutputStream = 'stdout' | 'stderr';

export interface OutputPiece {
  readonly stream: OutputStream;
  /** Valid until the next piece is asked for; who keeps it copies it. */
  readonly bytes: Buffer;
}

export interface ProcessInput {
  /** Resolves when there is room for more, also when nobody reads it. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
}

/** How it ended. */
export interface ProcessEnd {
  /** Null when a signal ended it; a guest tells its own signals as 128 and their number. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** Whether it hit its timeout; set only where the remote side enforces the timeout. */
  readonly timedOut?: boolean;
  /** Output that was dropped where it runs, because nobody wanted so much. */
  readonly dropped?: Readonly<Record<OutputStream, boolean>>;
}

export interface Process {
  /** To be read once, to its end. A reader that is slow holds the process up, as a pipe would. */
  readonly output: AsyncIterable<OutputPiece>;
  /** Absent when it reads nothing. */
  readonly input?: ProcessInput | undefined;
  /** Tells it the size of its terminal; absent without one. */
  resize?(size: { columns: number; rows: number }): void;
  /** SIGKILL is the one signal that every place can send: to the process and all that came from it. Resolves when it is over. */
  signal(name: 'SIGKILL'): Promise<void>;
  /** Rejects when it could not be started, or nobody knows how it ended. */
  readonly done: Promise<ProcessEnd>;
}
