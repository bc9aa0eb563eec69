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

import type { LimitGroup, LimitHits } from '../../limits/limits.ts';
import { MemoryWatch } from '../../limits/memory-watch.ts';
import type { Ending, Instance, Usage } from '../backend.ts';

const STDERR_TAIL_BYTES = 4096;

/** The launcher ends when its sandbox did. Should it not, it is ended itself, and the sandbox dies with it. */
const KILL_MS = 5000;

/** What the kernel keeps for each file on the disk, in its two layers. */
const FILE_BYTES = 2048;

export interface Launch {
  launcher: string;
  args: readonly string[];
  group: LimitGroup;
  /** Where the disk of the sandbox is mounted, as its first process sees it. */
  diskPath: '/' | '/root';
  /** A kernel that is a program keeps the memory of its guest in a file, and all of its guest's processes end with it. */
  memory: 'of-processes' | 'a-file';
  /** What programs may hold, beside the files on the disk. */
  memoryMb: number;
}

export class LaunchedMachine implements Instance {
  readonly channel: Duplex;
  readonly pid: number;
  readonly exited: Promise<Ending>;
  readonly #launcher: ChildProcess;
  readonly #launch: Launch;
  readonly #watch: MemoryWatch;
  /** Why it was ended from here. */
  #problem = '';
  #disposing: Promise<void> | undefined;

  private constructor(launcher: ChildProcess, launch: Launch) {
    this.#launcher = launcher;
    this.#launch = launch;
    this.#watch = new MemoryWatch({
      limitBytes: launch.memoryMb * 2 ** 20,
      heldBytes: () => this.#heldBytes(),
      members: () => (launch.memory === 'a-file' ? [] : this.#programs()),
      end: (problem) => {
        this.#problem = problem;
        launcher.kill('SIGTERM');
      },
    });
    this.pid = launcher.pid!;
    this.channel = launcher.stdio[3] as Duplex;
    // Whoever speaks over it learns of its end there; before that nobody listens.
    this.channel.on('error', () => {});
    this.exited = watch(launcher).then(({ stderrTail, ...ending }) => {
      this.#watch.close();
      return { ...ending, stderrTail: [this.#problem, stderrTail].filter(Boolean).join('\n') };
    });
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

    const { memoryBytes, sharedBytes, oomKills, ...counts } = used;
    const diskBytes = this.#disk().bytes;
    const fileBytes = memory === 'a-file' ? Math.max(0, sharedBytes - diskBytes) : 0;
    return {
      ...counts,
      oomKills: oomKills + this.#watch.kills,
      memoryBytes: memoryBytes + fileBytes,
      diskBytes,
    };
  }

  /** Undefined also when the group is gone, with a machine that is being stopped, or its kernel does not count. */
  limitHits(): LimitHits | undefined {
    try {
      const hits = this.#launch.group.hits();
      return hits && { ...hits, oomKills: hits.oomKills + this.#watch.kills };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
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

  #heldBytes(): number | undefined {
    const heldBytes = this.#launch.group.heldBytes();
    if (heldBytes === undefined) return undefined;
    const { bytes, files } = this.#disk();
    return heldBytes - bytes - files * FILE_BYTES;
  }

  /** All but the launcher and the agent. */
  #programs(): number[] {
    const spared = [this.pid, this.#first()];
    return this.#launch.group.members().filter((pid) => !spared.includes(pid));
  }

  /** The process 1 of the sandbox; NaN once it is gone. */
  #first(): number {
    try {
      return parseInt(readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'latin1'), 10);
    } catch {
      return NaN;
    }
  }

  /** What the layer above the image holds. It is asked for as a mount of the launcher's: no name in it is looked at. */
  #disk(): { bytes: number; files: number } {
    try {
      const { bsize, blocks, bfree, files, ffree } = statfsSync(`/proc/${this.#first()}/root${this.#launch.diskPath}`);
      return { bytes: (blocks - bfree) * bsize, files: files - ffree };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { bytes: 0, files: 0 };
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
