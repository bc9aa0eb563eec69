/**
 * The backend that isolates by namespaces of this kernel.
 *
 * It needs no more than Linux and a C compiler, as root or as an ordinary user. Root's sandboxes get ids of their own
 * that belong to nobody here; a user's sandbox has one id, which is his.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { silentLog, type Log } from '#contract';
import { AgentClient } from '../../guest/agent-client.ts';
import { buildAgent } from '../../guest/build-agent.ts';
import { buildProgram, sourcePath } from '../../guest/c-program.ts';
import { openLimiter, type Limiter } from '../../limits/limits.ts';
import type { Instance, Probe, SandboxBackend, Shape } from '../backend.ts';
import { NamespaceMachine } from './machine.ts';
import { seccompFilter } from './seccomp.ts';

/** Processes and threads. */
const MAX_PROCESSES = 1024;

const PROBE_MS = 10_000;

/** Above what systems give to people and containers; a range of its own for each of many sandboxes. */
const FIRST_ID = 0x7000_0000;
const RANGES = 4096;
const IDS = 65_536;

interface Tools {
  launcher: string;
  agent: string;
  seccomp: string;
}

export class NamespacesBackend implements SandboxBackend {
  readonly name = 'namespaces';
  readonly rung = 'namespaces';
  readonly #cacheDir: string;
  readonly #log: Log;
  readonly #limiter: Limiter;
  #tools: Promise<Tools> | undefined;
  #probe: Promise<Probe> | undefined;

  constructor({
    cacheDir,
    log = silentLog,
    limiter = openLimiter(),
  }: {
    cacheDir: string;
    log?: Log;
    limiter?: Limiter;
  }) {
    this.#cacheDir = cacheDir;
    this.#log = log;
    this.#limiter = limiter;
  }

  async probe(signal: AbortSignal): Promise<Probe> {
    this.#probe ??= this.#try(signal);
    const probe = await this.#probe;
    // What failed may have been mended since.
    if (!probe.ok) this.#probe = undefined;
    return probe;
  }

  async prepare(): Promise<void> {
    await this.#ready();
  }

  async create({ image, ...shape }: Shape, { id, signal }: { id: string; signal: AbortSignal }): Promise<Instance> {
    const machine = await this.#start({ ...shape, rootDir: image.rootDir }, id);
    if (!signal.aborted) return machine;
    await machine.kill();
    await machine.dispose();
    throw signal.reason;
  }

  async sweep(): Promise<void> {
    await this.#limiter.sweep();
  }

  async close(): Promise<void> {}

  /** The launcher and the agent are ours. */
  fingerprint(): string {
    return '';
  }

  /** Starts a machine on an empty root and has its agent answer. */
  async #try(signal: AbortSignal): Promise<Probe> {
    if (process.platform !== 'linux') return { ok: false, reason: 'namespaces need Linux', stderrTail: '' };
    let machine: NamespaceMachine | undefined;
    try {
      const rootDir = join(this.#cacheDir, 'empty-root');
      mkdirSync(rootDir, { recursive: true });
      machine = await this.#start({ rootDir, cpus: 1, memoryMb: 64, diskMb: 16 }, 'probe');
      const agent = await AgentClient.open(machine.channel, { deadlineMs: PROBE_MS, signal });
      agent.close();
      const ids = isRoot() ? 'ids of its own' : 'the id of this user';
      return { ok: true, isolation: 'namespaces', detail: `${ids}, limits by ${this.#limiter.kind}` };
    } catch (error) {
      await machine?.kill();
      const stderrTail = (await machine?.exited)?.stderrTail ?? '';
      return { ok: false, reason: stderrTail || (error as Error).message, stderrTail };
    } finally {
      await machine?.kill();
      await machine?.dispose();
    }
  }

  async #start(
    shape: { rootDir: string; cpus: number; memoryMb: number; diskMb: number },
    id: string,
  ): Promise<NamespaceMachine> {
    const tools = await this.#ready();
    const group = this.#limiter.make(id, { ...shape, maxProcesses: MAX_PROCESSES });
    try {
      return await NamespaceMachine.start(
        tools.launcher,
        this.#argumentsFor(tools, shape, { id, entrances: group.entrances }),
        group,
      );
    } catch (error) {
      await group.release();
      throw error;
    }
  }

  #argumentsFor(
    { agent, seccomp }: Tools,
    { rootDir, memoryMb, diskMb }: { rootDir: string; memoryMb: number; diskMb: number },
    { id, entrances }: { id: string; entrances: readonly string[] },
  ): string[] {
    const options: [name: string, value: string | number][] = [
      ['--root', rootDir],
      ['--agent', agent],
      ['--seccomp', seccomp],
      ['--disk-mb', diskMb],
      ['--hostname', `sandbox-${id.slice(0, 8)}`],
      ...entrances.map((file): [string, string] => ['--cgroup', file]),
    ];
    if (isRoot()) options.push(['--first-id', FIRST_ID + randomInt(RANGES) * IDS]);
    if (entrances.length === 0) options.push(['--max-processes', MAX_PROCESSES], ['--max-data-mb', memoryMb]);
    return options.flatMap(([name, value]) => [name, String(value)]);
  }

  #ready(): Promise<Tools> {
    this.#tools ??= this.#build().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async #build(): Promise<Tools> {
    const cacheDir = join(this.#cacheDir, 'programs');
    const launcher = { name: 'launcher', sources: [sourcePath('launcher.c', import.meta.url)], cacheDir };
    const built = { launcher: await buildProgram(launcher), agent: await buildAgent(cacheDir) };
    const seccomp = join(cacheDir, `seccomp-${process.arch}`);
    writeFileSync(seccomp, seccompFilter(process.arch));
    this.#log.debug('the programs of the namespaces backend are built', built);
    return { ...built, seccomp };
  }
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
