/**
 * What isolates a sandbox, and one machine of it.
 *
 * A backend makes a place where the guest agent runs first and gives back the one byte stream to it. Everything else that
 * a sandbox can do is said over that stream, so it is the same on every backend. `backend.contract.ts` is what each has
 * to pass.
 */
import type { Duplex } from 'node:stream';

import type { AgentClient } from '#sandbox/guest';
import type { PreparedImage } from '#sandbox/images';
import type { Isolation } from '../isolation.ts';
import type { LimitHits } from '../limits/limits.ts';

/** An image by name and content. Who needs its files on this host asks for the directory. */
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
  /** As the configuration names it. */
  readonly name: string;
  /** As people are told of it: `qemu+kvm` and `qemu+tcg` are two ways of one backend. */
  readonly rung: string;
  readonly isolation: Isolation;
  /** What a verdict depends on beside the kernel of the host: it changes when the programs do that the backend calls. */
  fingerprint(): string;
  /** Starts something and sees it answer, each time anew: the ladder keeps the verdict. */
  probe(signal: AbortSignal): Promise<Probe>;
  /** Makes what machines of this shape share; once, however often it is asked for. */
  prepare(shape: Shape, signal: AbortSignal): Promise<void>;
  create(shape: Shape, options: { id: string; signal: AbortSignal }): Promise<Instance>;
  /** Removes what a daemon that was killed left behind. */
  sweep(): Promise<void>;
  /** Ends what runs though nobody asked for it yet. */
  close(): Promise<void>;
}

/** What a machine uses now. */
export interface Usage {
  memoryBytes: number;
  pids: number;
  cpuMs: number;
  diskBytes: number;
  /** How often the kernel had to end a process because the memory was used up. */
  oomKills: number;
}

export interface Ending {
  code: number | null;
  signal: string | null;
  /** The end of what the machine complained about. */
  stderrTail: string;
}

export interface Instance {
  /** The agent's frames; the only way in and out. */
  readonly channel: Duplex;
  /** The process on this host that holds all of it, where there is one. */
  readonly pid?: number | undefined;
  readonly exited: Promise<Ending>;
  /** The agent, where it was greeted before; whoever gets the machine speaks over this one. */
  readonly agent?: AgentClient;
  /** What a machine that was copied from another has to be told before anybody uses it: who and when it is. */
  personalize?(agent: AgentClient): Promise<void>;
  /** Undefined where nothing counts it. */
  usage(): Promise<Usage | undefined>;
  /** How often it met its limits, where the host counts that. */
  limitHits?(): LimitHits | undefined;
  /** Ends all of it at once, whatever the guest is doing. */
  kill(): Promise<void>;
  /** Gives back what the machine held on the host; may be called again. */
  dispose(): Promise<void>;
}
