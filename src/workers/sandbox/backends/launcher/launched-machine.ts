/**
 * A machine that a launcher made: the launcher outside, and everything inside that ends with it.
 *
 * The launcher holds the first process of the sandbox and ends only when nothing in there lives, so its exit is the
 * proof. It dies with this process, and the sandbox with it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statfsSync } from 'node:fs';
import type { Duplex } from 'node:stream';

import type { LimitGroup } from '../../limits/limits.ts';
import type { Ending, Instance, Usage } from '../backend.ts';

const STDERR_TAIL_BYTES = 4096;

/** The launcher ends when its sandbox did. Should it not, it is ended itself, and the sandbox dies with it. */
const KILL_MS = 5000;

export interface Launch {
  launcher: string;
  args: readonly string[];
  group: LimitGroup;
  /** Where the disk of the sandbox is mounted, as its first process sees it. */
  diskPath: '/' | '/root';
  /** A kernel that is a program keeps the memory of its guest in a file. */
  memory: 'of-processes' | 'a-file';
}

export class LaunchedMachine implements Instance {
  readonly channel: Duplex;
  readonly pid: number;
  readonly exited: Promise<Ending>;
  readonly #launcher: ChildProcess;
  readonly #launch: Launch;
  #disposing: Promise<void> | undefined;

  private constructor(launcher: ChildProcess, launch: Launch) {
    this.#launcher = launcher;
    this.#launch = launch;
    this.pid = launcher.pid!;
    this.channel = launcher.stdio[3] as Duplex;
    // Whoever speaks over it learns of its end there; before that nobody listens.
    this.channel.on('error', () => {});
    this.exited = watch(launcher);
  }

  /** Resolves when the launcher runs; whether the agent does is for its greeting to say. */
  static async start(launch: Launch): Promise<LaunchedMachine> {
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as const;
    const child = spawn(launch.launcher, launch.args, { detached: true, env: {}, stdio: [...stdio] });
    await once(child, 'spawn');
    return new LaunchedMachine(child, launch);
  }

  async usage(): Promise<Usage | undefined> {
    const { group, memory } = this.#launch;
    const used = group.usage();
    if (!used) return undefined;

    const { memoryBytes, sharedBytes, ...counts } = used;
    const diskBytes = this.#diskBytes();
    const fileBytes = memory === 'a-file' ? Math.max(0, sharedBytes - diskBytes) : 0;
    return { ...counts, memoryBytes: memoryBytes + fileBytes, diskBytes };
  }

  async kill(): Promise<void> {
    this.#launcher.kill('SIGTERM');
    const timer = setTimeout(() => this.#launcher.kill('SIGKILL'), KILL_MS);
    this.channel.destroy();
    await this.exited;
    clearTimeout(timer);
  }

  async dispose(): Promise<void> {
    this.#disposing ??= this.#launch.group.release();
    this.channel.destroy();
    await this.#disposing;
  }

  /** Of the layer above the image. It is asked for as a mount of the launcher's: no name in it is looked at. */
  #diskBytes(): number {
    try {
      const [first] = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'latin1').split(' ');
      const { bsize, blocks, bfree } = statfsSync(`/proc/${first}/root${this.#launch.diskPath}`);
      return (blocks - bfree) * bsize;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  }
}

function watch(launcher: ChildProcess): Promise<Ending> {
  let tail = Buffer.alloc(0);
  launcher.stderr!.on('data', (piece: Buffer) => {
    tail = Buffer.concat([tail, piece]).subarray(-STDERR_TAIL_BYTES);
  });
  return new Promise((resolve) => {
    launcher.once('exit', (code, signal) => {
      // What it said last may still be in the pipe.
      const done = () => resolve({ code, signal, stderrTail: tail.toString().trim() });
      if (launcher.stderr!.readableEnded) done();
      else launcher.stderr!.once('close', done);
    });
  });
}
