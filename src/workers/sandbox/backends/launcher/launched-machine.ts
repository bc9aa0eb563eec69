/**
 * A machine made by a launcher: the launcher runs outside, and everything inside ends with it.
 *
 * The launcher is the parent of the sandbox's first process and exits only after the last process inside, so its exit
 * proves the end. When this process ends, the launcher and the sandbox are killed too.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statfsSync } from 'node:fs';
import type { Duplex } from 'node:stream';

import { ifExists } from '#sandbox/images';
import type { LimitGroup, LimitHits } from '../../limits/limits.ts';
import { MemoryWatch } from '../../limits/memory-watch.ts';
import type { Ending, Instance, Usage } from '../backend.ts';

const STDERR_TAIL_BYTES = 4096;

/** If the launcher does not exit by then, it is killed itself, and the sandbox dies with it. */
const KILL_MS = 5000;

/** Kernel memory per file on the disk, in its two layers. */
const FILE_BYTES = 2048;

export interface Launch {
  launcher: string;
  args: readonly string[];
  group: LimitGroup;
  /** Mount point of the sandbox's disk, as its first process sees it. */
  diskPath: '/' | '/root';
  /** `a-file`: a kernel in a program keeps the guest's memory in a file, and all processes of the guest end with it. */
  memory: 'of-processes' | 'a-file';
  /** Limit for programs, beside the files on the disk. */
  memoryMb: number;
}

export class LaunchedMachine implements Instance {
  readonly channel: Duplex;
  readonly pid: number;
  readonly exited: Promise<Ending>;
  readonly #launcher: ChildProcess;
  readonly #launch: Launch;
  readonly #watch: MemoryWatch;
  /** The reason for a kill by this process. */
  #problem = '';
  #disposing: Promise<void> | undefined;

  private constructor(launcher: ChildProcess, launch: Launch) {
    this.#launcher = launcher;
    this.#launch = launch;
    this.#watch = new MemoryWatch({
      limitBytes: launch.memoryMb * 2 ** 20,
      usedBytes: () => this.#usedBytes(),
      members: () => (launch.memory === 'a-file' ? [] : this.#programs()),
      end: (problem) => {
        this.#problem = problem;
        launcher.kill('SIGTERM');
      },
    });
    this.pid = launcher.pid!;
    this.channel = launcher.stdio[3] as Duplex;
    // Ignored: the agent client gets the error, and before there is a client nothing needs it.
    this.channel.on('error', () => {});
    this.exited = watch(launcher).then(({ stderrTail, ...ending }) => {
      this.#watch.close();
      const isOutOfMemory = this.#problem !== '';
      return { ...ending, isOutOfMemory, stderrTail: [this.#problem, stderrTail].filter(Boolean).join('\n') };
    });
  }

  /** Resolves when the launcher runs; only the agent's greeting proves that the agent runs too. */
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

  /** Also undefined when the cgroup is gone, because the machine is being stopped, or the kernel does not count. */
  limitHits(): LimitHits | undefined {
    const hits = ifExists(() => this.#launch.group.hits());
    return hits && { ...hits, oomKills: hits.oomKills + this.#watch.kills };
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

  #usedBytes(): number | undefined {
    const usedBytes = this.#launch.group.usedBytes();
    if (usedBytes === undefined) return undefined;
    const { bytes, files } = this.#disk();
    return usedBytes - bytes - files * FILE_BYTES;
  }

  /** Pids of all processes but the launcher and the agent. */
  #programs(): number[] {
    const spared = [this.pid, this.#first()];
    return this.#launch.group.members().filter((pid) => !spared.includes(pid));
  }

  /** Pid 1 of the sandbox; NaN once it is gone. */
  #first(): number {
    try {
      return parseInt(readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'latin1'), 10);
    } catch {
      return NaN;
    }
  }

  /** Usage of the layer above the image, by statfs on the launcher's mount: no name in it is resolved. */
  #disk(): { bytes: number; files: number } {
    const disk = ifExists(() => statfsSync(`/proc/${this.#first()}/root${this.#launch.diskPath}`));
    if (!disk) return { bytes: 0, files: 0 };
    return { bytes: (disk.blocks - disk.bfree) * disk.bsize, files: disk.files - disk.ffree };
  }
}

function watch(launcher: ChildProcess): Promise<Ending> {
  let tail = Buffer.alloc(0);
  launcher.stderr!.on('data', (piece: Buffer) => {
    tail = Buffer.concat([tail, piece]).subarray(-STDERR_TAIL_BYTES);
  });
  return new Promise((resolve) => {
    launcher.once('exit', (code, signal) => {
      // Its last output may still be in the pipe.
      const done = () => resolve({ code, signal, stderrTail: tail.toString().trim() });
      if (launcher.stderr!.readableEnded) done();
      else launcher.stderr!.once('close', done);
    });
  });
}
