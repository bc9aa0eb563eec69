/**
 * The backend that isolates by namespaces of this kernel.
 *
 * It needs only Linux and a C compiler, as root or as an ordinary user. Root's sandboxes get ids of their own that no
 * account here has; a user's sandbox has one id, the user's.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { silentLog, type Log } from '#contract';
import { buildAgent, sourcePath } from '#sandbox/guest';
import { writeSharedFile } from '#sandbox/images';
import { openLimiter, type Limiter } from '../../limits/limits.ts';
import type { Instance, Probe, SandboxBackend, Shape } from '../backend.ts';
import { emptyImage } from '../empty-image.ts';
import { LaunchedMachine } from '../launcher/launched-machine.ts';
import { buildLauncher, isRoot, placeArguments, watchArguments } from '../launcher/launcher.ts';
import { tryMachine } from '../launcher/try-machine.ts';
import { rememberSuccess } from '../remember-success.ts';
import { wantedMachine } from '../dispose-if-aborted.ts';
import { seccompFilter } from './seccomp.ts';

/** Processes and threads. */
const MAX_PROCESSES = 1024;

const PROBE_MS = 10_000;

interface Tools {
  launcher: string;
  agent: string;
  seccomp: string;
}

export class NamespacesBackend implements SandboxBackend {
  readonly name = 'namespaces';
  readonly rung = 'namespaces';
  readonly isolation = 'namespaces';
  readonly #cacheDir: string;
  readonly #log: Log;
  readonly #limiter: Limiter;
  readonly #ready = rememberSuccess(() => this.#build());

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

  async prepare(): Promise<void> {
    await this.#ready();
  }

  async create({ image, ...shape }: Shape, { id, signal }: { id: string; signal: AbortSignal }): Promise<Instance> {
    return wantedMachine(await this.#start({ ...shape, rootDir: await image.directory() }, id), signal);
  }

  async sweep(): Promise<void> {
    await this.#limiter.sweep();
  }

  async close(): Promise<void> {}

  /** Constant: launcher and agent are ours. */
  fingerprint(): string {
    return '';
  }

  /** Starts a machine on an empty root and waits for its agent. */
  async probe(signal: AbortSignal): Promise<Probe> {
    if (process.platform !== 'linux') return { ok: false, reason: 'namespaces need Linux', stderrTail: '' };
    const start = async () => {
      const rootDir = await emptyImage(this.#cacheDir).directory();
      return this.#start({ rootDir, cpus: 1, memoryMb: 64, diskMb: 16 }, 'probe');
    };
    const refusal = await tryMachine(start, { deadlineMs: PROBE_MS, signal });
    if (refusal) return { ok: false, ...refusal };
    const ids = isRoot() ? 'ids of its own' : 'the id of this user';
    return { ok: true, detail: `${ids}, limits by ${this.#limiter.kind}` };
  }

  async #start(
    shape: { rootDir: string; cpus: number; memoryMb: number; diskMb: number },
    id: string,
  ): Promise<LaunchedMachine> {
    const { launcher, agent, seccomp } = await this.#ready();
    const { memoryMb } = shape;
    const group = this.#limiter.make(id, { ...shape, maxProcesses: MAX_PROCESSES });
    try {
      const { entrances } = group;
      const args = [...placeArguments({ ...shape, id, agent, entrances }), '--seccomp', seccomp];
      if (entrances.length === 0) args.push('--max-processes', `${MAX_PROCESSES}`, '--max-data-mb', `${memoryMb}`);
      args.push(...watchArguments(group, memoryMb));
      return await LaunchedMachine.start({ launcher, args, group, diskPath: '/', memory: 'of-processes', memoryMb });
    } catch (error) {
      await group.release();
      throw error;
    }
  }

  async #build(): Promise<Tools> {
    const cacheDir = join(this.#cacheDir, 'programs');
    const source = sourcePath('launcher.c', import.meta.url);
    const built = { launcher: await buildLauncher('launcher', source, cacheDir), agent: await buildAgent(cacheDir) };
    const filter = seccompFilter(process.arch, { isCounted: this.#limiter.kind !== 'watchdog' });
    // Named by its content, so that no other version of Workcell replaces it; two servers that write it write the same.
    const seccomp = join(cacheDir, `seccomp-${createHash('sha256').update(filter).digest('hex').slice(0, 16)}`);
    if (!existsSync(seccomp)) writeSharedFile(seccomp, filter);
    this.#log.debug('the programs of the namespaces backend are built', built);
    return { ...built, seccomp };
  }
}
