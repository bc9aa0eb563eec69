/**
 * The containments of jobs, one file each, strongest first; `children.ts` takes the first that works.
 *
 * A containment starts the process itself, because a process has to be contained before its first instruction: one that is
 * moved afterwards may have forked already.
 */
import type { ChildProcess } from 'node:child_process';

/** Strongest first. */
export const CONTAINMENTS = ['cgroup2', 'cgroup1', 'pid-namespace', 'session'] as const;

/** The mechanism that contains a job. */
export type Containment = (typeof CONTAINMENTS)[number];

export interface Command {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: 'pipe' | 'ignore';
  /** Path of the terminal that replaces all three streams. */
  terminalPath?: string | undefined;
  /** Descriptors for a launcher, which opens the terminal itself. */
  descriptors?: readonly number[] | undefined;
}

export interface ContainmentMethod {
  readonly name: Containment;
  /** Rejects with a `SpawnError`, and then contains nothing. */
  start(command: Command): Promise<ContainedProcess>;
  /** Call it after the last group was released. */
  close(): Promise<void>;
}

export interface ContainedProcess {
  process: ChildProcess;
  group: JobGroup;
}

/** The processes of one job, contained until it is released. */
export interface JobGroup {
  /** Releases it if the job has demonstrably ended with its first process, and returns whether it did. */
  releaseIfEmpty(): boolean;
  /** Sends SIGKILL until no process lives; false if some still live after `KILL_DEADLINE_MS`. */
  kill(): Promise<boolean>;
  release(): void;
  /** Sends another signal; absent where the group of the first process is the right receiver. */
  sendSignal?(name: NodeJS.Signals): Promise<void>;
}

/** A process that SIGKILL has not ended by then is stuck in the kernel, and cannot be killed at all. */
export const KILL_DEADLINE_MS = 5000;
