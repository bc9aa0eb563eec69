/**
 * The ladder: what can hold a job together, each way one file. `children.ts` takes the first that works.
 *
 * A rung starts the process itself, because a process has to be held before its first instruction: one that is
 * moved afterwards may have forked already.
 */
import type { ChildProcess } from 'node:child_process';

/** Best first. */
export const CONTAINMENTS = ['cgroup2', 'cgroup1', 'pid-namespace', 'session'] as const;

/** What holds a job together here. */
export type Containment = (typeof CONTAINMENTS)[number];

export interface Command {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: 'pipe' | 'ignore';
}

export interface Rung {
  readonly name: Containment;
  /** Rejects with a `SpawnError`, and then holds nothing. */
  start(command: Command): Promise<Held>;
  /** After the last hold was released. */
  close(): Promise<void>;
}

export interface Held {
  process: ChildProcess;
  hold: Hold;
}

/** The grip on one job, until it is released. */
export interface Hold {
  /** Releases it when the job is seen to have ended with its first process, and says whether it did. */
  releaseIfEmpty(): boolean;
  /** SIGKILL for all, again and again until none lives; false when some still do after `KILL_DEADLINE_MS`. */
  kill(): Promise<boolean>;
  release(): void;
}

/** A process that a SIGKILL does not end by then waits in the kernel, and nobody can do anything about it. */
export const KILL_DEADLINE_MS = 5000;
