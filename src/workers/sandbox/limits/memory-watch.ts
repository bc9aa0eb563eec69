/**
 * Ends programs of a sandbox that together hold more memory than memory_mb.
 *
 * The disk of a sandbox lies in memory, so its group may take both together; the kernel cannot tell what the disk leaves free
 * from what programs may have. This looks at both several times a second: the largest processes are ended, and the sandbox
 * when that does not help. The reasons and the figures are in docs/decisions/2026-11-16-memory-by-watching.md.
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 200;

/** What is still held after so long is not given back by ending processes one after another. */
const PATIENCE_MS = 3000;

/** What belongs to no program: the agent, the launcher, and pages that the kernel counts in advance. */
const SLACK_BYTES = 16 * 2 ** 20;

export interface Watched {
  readonly limitBytes: number;
  /** What its programs hold; undefined when nobody can tell, or it is gone. */
  heldBytes(): number | undefined;
  /** Processes that may be ended alone; none where only all of it can be. */
  members(): readonly number[];
  /** Ends all of it. */
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
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** How many processes it ended. */
  get kills(): number {
    return this.#kills;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const heldBytes = this.#watched.heldBytes();
    const excessBytes = (heldBytes ?? 0) - this.#watched.limitBytes;
    if (excessBytes <= SLACK_BYTES) {
      this.#overSinceMs = undefined;
      return;
    }
    this.#overSinceMs ??= performance.now();
    const isLate = performance.now() - this.#overSinceMs > PATIENCE_MS;
    // What was killed gives its memory back a moment later; until then nobody else is ended for it.
    if (!isLate && this.#victims.some(isRunning)) return;
    this.#victims = isLate ? [] : largestOf(this.#watched.members(), excessBytes);
    for (const pid of this.#victims) this.#kills += kill(pid);
    if (this.#victims.length > 0) return;

    this.close();
    const heldMb = Math.round(heldBytes! / 2 ** 20);
    this.#watched.end(`its programs held ${heldMb} MiB, more than its memory_mb`);
  }
}

/** The fewest that hold so much together; all, where what is held is not theirs alone. */
function largestOf(pids: readonly number[], bytes: number): number[] {
  const sizes = pids.map((pid) => ({ pid, bytes: kilobytesOf(pid) * 1024 })).toSorted((a, b) => b.bytes - a.bytes);
  let heldBytes = 0;
  const count = sizes.findIndex((one) => (heldBytes += one.bytes) >= bytes);
  return sizes.slice(0, count < 0 ? sizes.length : count + 1).map(({ pid }) => pid);
}

/** Without pages of files that can be read again. */
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
