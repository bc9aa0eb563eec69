/**
 * How much of the host sandboxes may take: each at most a share of it, all together at most another.
 *
 * The disk of a sandbox is in the host's memory, so memory_mb and disk_mb count together. Processors are time-shared,
 * so only those of one sandbox are limited.
 */
import { availableParallelism, totalmem } from 'node:os';

import type { SandboxConfig } from '../config.ts';
import { errors } from '../errors.ts';

export interface Size {
  cpus: number;
  memoryMb: number;
  diskMb: number;
}

/** The fields that the caller set; the others keep the operator's value. */
export interface AskedSize {
  cpus?: number | null | undefined;
  memory_mb?: number | null | undefined;
  disk_mb?: number | null | undefined;
}

type Percents = Pick<SandboxConfig, 'max_sandbox_percent' | 'max_total_percent'>;

export class HostShare {
  readonly #percents: Percents;
  readonly #host: { cpus: number; memoryMb: number };
  #takenMb = 0;

  constructor(percents: Percents, host = { cpus: availableParallelism(), memoryMb: Math.floor(totalmem() / 2 ** 20) }) {
    this.#percents = percents;
    this.#host = host;
  }

  /** Reserves the memory and disk of a new sandbox. Call the returned function when the sandbox has ended. */
  take(size: Size, asked: AskedSize): () => void {
    this.#requireForOne(size, asked);
    const wantedMb = size.memoryMb + size.diskMb;
    // The first sandbox is limited only by its own ceiling: on a small host the shipped sizes exceed the common share.
    if (this.#takenMb > 0 && wantedMb > this.freeMb) {
      throw errors.fail('S400', {
        problem: `${spell(size)}; ${this.#free()}`,
        fix: smaller(size, asked, this.freeMb),
      });
    }
    this.#takenMb += wantedMb;
    let isTaken = true;
    return () => {
      if (isTaken) this.#takenMb -= wantedMb;
      isTaken = false;
    };
  }

  #requireForOne(size: Size, asked: AskedSize): void {
    const { max_sandbox_percent: percent } = this.#percents;
    const mostCpus = Math.max(1, Math.floor((this.#host.cpus * percent) / 100));
    if ((asked.cpus ?? 0) > mostCpus) {
      const problem = `cpus is ${asked.cpus}; on this host it may be ${mostCpus} (max_sandbox_percent: ${percent})`;
      throw errors.fail('S400', { problem, fix: { cpus: mostCpus } });
    }
    const mostMb = Math.floor((this.#host.memoryMb * percent) / 100);
    const isAsked = (asked.memory_mb ?? asked.disk_mb ?? undefined) !== undefined;
    if (!isAsked || size.memoryMb + size.diskMb <= mostMb) return;
    const most = `one sandbox may take ${mostMb} MiB (max_sandbox_percent: ${percent})`;
    const problem = `${spell(size)}; ${most}, and ${this.#free()}`;
    throw errors.fail('S400', { problem, fix: smaller(size, asked, mostMb) });
  }

  get #totalMb(): number {
    return Math.floor((this.#host.memoryMb * this.#percents.max_total_percent) / 100);
  }

  /** Memory that is left for memory_mb and disk_mb of new sandboxes. */
  get freeMb(): number {
    return Math.max(0, this.#totalMb - this.#takenMb);
  }

  #free(): string {
    const { max_total_percent: percent } = this.#percents;
    return `${this.freeMb} MiB of the ${this.#totalMb} MiB for all sandboxes are free (max_total_percent: ${percent})`;
  }
}

function spell({ memoryMb, diskMb }: Size): string {
  return `memory_mb ${memoryMb} and disk_mb ${diskMb} together take ${memoryMb + diskMb} MiB of this host's memory`;
}

/** A size that fits: reduces the field that was set, or both in proportion. Undefined if nothing is left. */
function smaller({ memoryMb, diskMb }: Size, asked: AskedSize, mostMb: number): Record<string, number> | undefined {
  const isMemory = (asked.memory_mb ?? undefined) !== undefined;
  const isDisk = (asked.disk_mb ?? undefined) !== undefined;
  const [memory, disk] =
    isMemory === isDisk
      ? [Math.floor((mostMb * memoryMb) / (memoryMb + diskMb)), Math.floor((mostMb * diskMb) / (memoryMb + diskMb))]
      : [isMemory ? mostMb - diskMb : memoryMb, isDisk ? mostMb - memoryMb : diskMb];
  if (memory < 1 || disk < 1) return undefined;
  return { ...(memory !== memoryMb && { memory_mb: memory }), ...(disk !== diskMb && { disk_mb: disk }) };
}
