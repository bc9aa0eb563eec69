/**
 * What a child is asked for, what it answers, and what can be done to it while it runs.
 *
 * A job is the child and everything that descends from it. When the child ends, the job ends.
 */

export interface ChildSpec {
  /** The final argument list; a first word without a slash is looked up in the PATH of `env`. */
  argv: readonly string[];
  /** Absolute; the server's own directory when absent. */
  cwd?: string;
  /** The whole environment of the child. */
  env: Record<string, string>;
  /** What the child reads; the null device when absent. */
  stdin?: Uint8Array;
  /** How much of each stream is kept. The rest is read and dropped, so that the child is never held up. */
  maxOutputBytes: number;
  /** Unbounded when absent. */
  timeoutMs?: number;
}

/** The first bytes of each stream, and whether there were more. */
export interface OutputSoFar {
  stdout: Buffer;
  stderr: Buffer;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
}

export interface ChildResult extends OutputSoFar {
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  timedOut: boolean;
  durationMs: number;
}

export interface RunningChild {
  readonly pid: number;
  /** Settles when the child has ended, its output is in and nothing of its job lives. Never rejects. */
  readonly done: Promise<ChildResult>;
  outputSoFar(): OutputSoFar;
  /** SIGKILL for everything of the job; resolves when nothing of it lives. */
  kill(): Promise<void>;
}
