/**
 * The isolation of a sandbox, and one machine of it.
 *
 * A backend starts the guest agent in isolation and returns the one byte stream to it. All other operations of a
 * sandbox use that stream, so they are the same on every backend. Each backend has to pass `backend.contract.ts`.
 */
import type { Duplex } from 'node:stream';

import type { AgentClient } from '#sandbox/guest';
import type { PreparedImage } from '#sandbox/images';
import type { Isolation } from '../isolation.ts';
import type { LimitHits } from '../limits/limits.ts';

/** An image by name and content. A backend that needs its files on this host calls `directory`. */
export interface ImageReference extends Omit<PreparedImage, 'rootDir'> {
  /** The files, never changed. */
  readonly directory: () => Promise<string>;
}

export interface Shape {
  image: ImageReference;
  cpus: number;
  memoryMb: number;
  diskMb: number;
}

export type Probe = { ok: true; detail: string } | { ok: false; reason: string; stderrTail: string };

export interface SandboxBackend {
  /** Name in the configuration. */
  readonly name: string;
  /** Name shown to people: `qemu+kvm` and `qemu+tcg` are two rungs of one backend. */
  readonly rung: string;
  readonly isolation: Isolation;
  /**
   * Fingerprint of everything that a probe depends on beside the host kernel: changes with the programs that the backend
   * calls.
   */
  fingerprint(): string;
  /** Starts a machine and waits for its agent's answer. Not cached here: `ladder/` caches the verdict. */
  probe(signal: AbortSignal): Promise<Probe>;
  /** Makes the files that machines of this shape share; idempotent. */
  prepare(shape: Shape, signal: AbortSignal): Promise<void>;
  create(shape: Shape, options: { id: string; signal: AbortSignal }): Promise<Instance>;
  /** Removes leftovers of a killed daemon. */
  sweep(): Promise<void>;
  /** Ends machines that were started in advance. */
  close(): Promise<void>;
}

/** Current usage of a machine. */
export interface Usage {
  memoryBytes: number;
  pids: number;
  cpuMs: number;
  diskBytes: number;
  /** How often the kernel killed a process because memory was used up. */
  oomKills: number;
}

export interface Ending {
  code: number | null;
  signal: string | null;
  /** End of the machine's error output. */
  stderrTail: string;
  /** Whether it was ended because its programs used too much memory. */
  isOutOfMemory?: boolean;
}

export interface Instance {
  /** The agent's frames; the only connection to the machine. */
  readonly channel: Duplex;
  /** The process on this host that contains the whole machine, if there is one. */
  readonly pid?: number | undefined;
  readonly exited: Promise<Ending>;
  /** The agent client, if the machine was greeted before; the receiver must use this one. */
  readonly agent?: AgentClient;
  /** Sets hostname, time and random seed of a machine that was cloned from another, before its first use. */
  personalize?(agent: AgentClient): Promise<void>;
  /** Undefined if nothing measures it. */
  usage(): Promise<Usage | undefined>;
  /** How often it hit its limits, if the host counts that. */
  limitHits?(): LimitHits | undefined;
  /** Kills all of it at once, whatever the guest is doing. */
  kill(): Promise<void>;
  /** Releases resources of the machine on the host; may be called again. */
  dispose(): Promise<void>;
}
