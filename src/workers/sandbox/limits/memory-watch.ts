/**
 * Kills programs of a sandbox that together hold more memory than memory_mb.
 *
 * The disk of a sandbox is in memory, so its cgroup may take both together; the kernel cannot separate free disk space
 * from memory for programs. This checks both several times a second: it kills the largest processes, and the sandbox
 * when that does not help. The reasons and the figures are in docs/decisions/2026-11-16-memory-by-watching.md.
 */
import { readFileSync } from 'node:fs';

const POLL_MS = 200;

/** If memory is still exceeded after this long, killing single processes does not help. */
const PATIENCE_MS = 3000;

/** Memory of no program: the agent, the launcher, and pages that the kernel charges in advance. */
const SLACK_BYTES = 16 * 2 ** 20;

export interface Watched {
  readonly limitBytes: number;
  /** Memory of its programs; undefined if unknown or after its end. */
  usedBytes(): number | undefined;
  /** Processes that may be killed one by one; empty if only the whole sandbox can be. */
  members(): readonly number[];
  /** Kills the whole sandbox. */
  end(problem: string): void;
}

export class MemoryWatch {
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  #victims: readonly number[] = [];
  #overSinceMs: number | undefined;
  #kills = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  /** How many processes it killed. */
  get kills(): number {
    return this.#kills;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #poll(): void {
    const usedBytes = this.#watched.usedBytes();
    const excessBytes = (usedBytes ?? 0) - this.#watched.limitBytes;
    if (excessBytes <= SLACK_BYTES) {
      this.#overSinceMs = undefined;
      return;
    }
    this.#overSinceMs ??= performance.now();
    const isLate = performance.now() - this.#overSinceMs > PATIENCE_MS;
    // A killed process frees its memory a moment later; until then no other is killed for it.
    if (!isLate && this.#victims.some(isRunning)) return;
    this.#victims = isLate ? [] : largestOf(this.#watched.members(), excessBytes);
    for (const pid of this.#victims) this.#kills += kill(pid);
    if (this.#victims.length > 0) return;

    this.close();
    const usedMb = Math.round(usedBytes! / 2 ** 20);
    this.#watched.end(`its programs used ${usedMb} MiB, more than its memory_mb`);
  }
}

/** The fewest processes that use this much together, or all if they use less. */
function largestOf(pids: readonly number[], bytes: number): number[] {
  const sizes = pids.map((pid) => ({ pid, bytes: kilobytesOf(pid) * 1024 })).toSorted((a, b) => b.bytes - a.bytes);
  let usedBytes = 0;
  const count = sizes.findIndex((one) => (usedBytes += one.bytes) >= bytes);
  return sizes.slice(0, count < 0 ? sizes.length : count + 1).map(({ pid }) => pid);
}

/** Memory of a process without the page cache. */
function kilobytesOf(pid: number): number {
  const status = statusOf(pid);
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return field('RssAnon') + field('RssShmem') + field('VmPTE') + field('VmSwap');
}

function isRunning(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function kill(pid: number): number {
  try {
    process.kill(pid, 'SIGKILL');
    return 1;
  } catch {
    return 0;
  }
}
