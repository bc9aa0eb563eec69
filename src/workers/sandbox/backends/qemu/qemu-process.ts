/**
 * One running QEMU: its jail, its two channels, its output, and its end.
 *
 * The machine's memory and processors are limited from its first instruction: a gate in the jail waits until the
 * process is in its cgroup. It counts as ended when its output is closed, because no process of it is left then. It is
 * killed when this process ends, however that ends.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';

import type { LimitGroup } from '../../limits/limits.ts';
import type { Ending } from '../backend.ts';
import { withDeadline } from '../with-deadline.ts';
import { GATE_FD, INFO_FD, jailArguments, type Bind } from './bwrap-arguments.ts';
import type { QemuPrograms } from './qemu-programs.ts';
import { Qmp } from './qmp.ts';

const TAIL_BYTES = 4096;

/** bwrap's report about a process has some hundred bytes. */
const MAX_INFO_BYTES = 4096;

const AGENT_FD = 3;
const QMP_FD = 4;

/** A killed process ends at once. If bwrap does not exit then, it is killed too. */
const KILL_MS = 5000;

/** A jail is made in milliseconds. */
const JAIL_MS = 20_000;

export interface QemuRun {
  readonly programs: QemuPrograms;
  /** Absent without a jail. */
  readonly gate?: string | undefined;
  readonly args: readonly string[];
  readonly binds: readonly Bind[];
  readonly preload?: string | undefined;
  readonly group: LimitGroup;
  /** A descriptor that QEMU inherits as its fifth; the caller keeps ownership. */
  readonly stateFd?: number | undefined;
}

export class QemuProcess {
  readonly channel: Duplex;
  readonly qmp: Qmp;
  /** Pid of the process that was started; with a jail, of bwrap. */
  readonly pid: number;
  readonly exited: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #group: LimitGroup;
  #tail = Buffer.alloc(0);
  /** An error outside of QEMU. */
  #problem = '';
  /** Pid of QEMU in its jail. */
  #insidePid: number | undefined;

  private constructor(child: ChildProcess, group: LimitGroup) {
    this.#child = child;
    this.#group = group;
    this.pid = child.pid!;
    this.channel = child.stdio[AGENT_FD] as Duplex;
    // Ends the machine with its channel: without the agent it is useless.
    this.channel.on('error', () => {}).once('close', () => this.#signal());
    this.qmp = new Qmp(child.stdio[QMP_FD] as Duplex);
    this.exited = this.#watch();
  }

  /**
   * Resolves when QEMU was started within its limits. Only its guest can prove that it works.
   *
   * Waits until the process in the jail is known: killing only bwrap before that would leave it behind.
   */
  static async start({ programs, gate, args, binds, preload, group, stateFd }: QemuRun): Promise<QemuProcess> {
    const { qemu, bwrap } = programs;
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', stateFd ?? 'ignore'];
    if (bwrap === undefined || gate === undefined) {
      const child = spawn(qemu, args, { detached: true, env: {}, cwd: '/', stdio });
      await once(child, 'spawn');
      return new QemuProcess(child, group);
    }
    const child = spawn(bwrap, jailArguments({ gate, program: qemu, args, binds, preload }), {
      detached: true,
      env: {},
      cwd: '/',
      stdio: [...stdio, 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    const started = new QemuProcess(child, group);
    await started.#enter();
    return started;
  }

  /** The process with the machine's memory; undefined until bwrap has reported it. */
  get insidePid(): number | undefined {
    return this.#insidePid;
  }

  /** The end of QEMU's output so far, and of the console if it has one. */
  get tail(): string {
    return [this.#problem, this.#tail.toString('latin1').trim()].filter(Boolean).join('\n');
  }

  /** Kills it for the given reason, which its end reports. */
  fail(problem: string): void {
    if (this.#hasEnded) return;
    this.#problem = problem;
    this.channel.destroy();
  }

  async kill(): Promise<void> {
    this.#signal();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_MS);
    this.channel.destroy();
    await this.exited;
    clearTimeout(timer);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #signal(): void {
    if (this.#hasEnded) return;
    // Kills only QEMU: bwrap then reaps it and exits, so nothing is left for init to reap.
    if (this.#insidePid !== undefined && kill(this.#insidePid)) return;
    this.#child.kill('SIGKILL');
  }

  /** Puts the process into its cgroup and lets it start; fails if bwrap reported none. */
  async #enter(): Promise<void> {
    const stdio: readonly unknown[] = this.#child.stdio;
    const info = stdio[INFO_FD] as Readable;
    const gate = stdio[GATE_FD] as Duplex;
    for (const stream of [info, gate]) stream.on('error', () => {});
    this.#child.once('exit', () => {
      // The gate, which waits, reads the end of file and exits.
      gate.destroy();
      this.#killOrphan();
    });
    const pid = await readChildPid(info);
    if (pid === undefined) return this.fail('bwrap reported no process');
    this.#insidePid = pid;
    if (this.#hasEnded) return this.#killOrphan();
    this.#limit([this.pid, pid]);
    // Stays open until the gate closes it at QEMU's start: the gate exits at an earlier end of file.
    gate.resume().write('x');
  }

  /** bwrap exits after its child, unless it is killed: then the child may not have set its parent-death signal yet. */
  #killOrphan(): void {
    if (this.#child.signalCode !== null && this.#insidePid !== undefined) kill(this.#insidePid);
  }

  #limit(pids: readonly number[]): void {
    try {
      for (const entrance of this.#group.entrances) for (const pid of pids) writeFileSync(entrance, String(pid));
    } catch (error) {
      this.fail(`its limits could not be set: ${(error as Error).message}`);
    }
  }

  #watch(): Promise<Ending> {
    const { stdout, stderr } = this.#child;
    const outputs = [stdout!, stderr!];
    for (const output of outputs) {
      output.on('data', (piece: Buffer) => {
        this.#tail = Buffer.concat([this.#tail, piece]).subarray(-TAIL_BYTES);
      });
    }
    // Waits until every process in the jail has closed the outputs.
    const closed = outputs.map((output) => new Promise((resolve) => output.once('close', resolve)));
    return new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        const done = () => resolve({ code, signal, stderrTail: this.tail });
        withDeadline(KILL_MS, Promise.all(closed)).then(done, done);
      });
    });
  }
}

/** Undefined when bwrap exited, or took too long, without a report. */
async function readChildPid(info: Readable): Promise<number | undefined> {
  let received = '';
  const read = new Promise<number | undefined>((resolve) => {
    info.on('data', (piece: Buffer) => {
      received = (received + piece.toString('latin1')).slice(0, MAX_INFO_BYTES);
      const pid = /"child-pid": (\d+)\s*[,}]/.exec(received)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
    for (const event of ['end', 'close']) info.on(event, () => resolve(undefined));
  });
  return withDeadline(JAIL_MS, read).catch(() => undefined);
}

/** Returns whether there was such a process. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
