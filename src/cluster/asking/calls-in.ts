/**
 * The calls that other nodes sent here: running, or finished and remembered. Pure: the clock is passed in.
 *
 * An id that is remembered does not run again. The memory is one for all peers and outlives their links, so that a
 * copy which was delayed by a failover is recognized.
 */
import { ByteBudget } from './memory.ts';
import type { Answer } from './calls-out.ts';

const MiB = 1024 * 1024;
/** Finished calls are remembered at least this long, unless there are too many. */
const REMEMBER_MS = 30_000;
const MOST_REMEMBERED = 200_000;
const MAX_RESULT_BYTES = 64 * MiB;
/** A result is not sent again within this time: it is probably still in transit. */
const SEND_AGAIN_AFTER_MS = 500;
/** A call that its caller's node did not poll for this long is cancelled: that node is gone. */
const UNASKED_MS = 8_000;

interface Running {
  readonly from: string;
  readonly id: string;
  readonly isWatch: boolean;
  askedAtMs: number;
}

interface Finished {
  readonly finishedAtMs: number;
  /** The result, kept to be sent again. */
  result: Uint8Array | undefined;
  sentAtMs: number;
}

export interface Asked extends Answer {
  /** Results to send again. */
  again: { id: string; result: Uint8Array }[];
}

export class CallsIn {
  readonly #running = new Map<string, Running>();
  readonly #finished = new Map<string, Finished>();
  /** Keys of finished calls whose results are kept, oldest first. */
  readonly #kept = new Set<string>();
  readonly #budget = new ByteBudget(MAX_RESULT_BYTES);
  #completeSinceMs: number;

  constructor(nowMs: number) {
    this.#completeSinceMs = nowMs;
  }

  /** Calls of all nodes that run here and will end: a watch runs until its caller leaves. */
  get endingCount(): number {
    let count = 0;
    for (const { isWatch } of this.#running.values()) if (!isWatch) count++;
    return count;
  }

  /** Calls of one node that run here. */
  countOf(from: string): number {
    let count = 0;
    for (const call of this.#running.values()) if (call.from === from) count++;
    return count;
  }

  /** Whether the call is new and may run. */
  arrived(from: string, id: string, nowMs: number, { isWatch = false } = {}): boolean {
    const key = keyOf(from, id);
    if (this.#running.has(key) || this.#finished.has(key)) return false;
    this.#running.set(key, { from, id, isWatch, askedAtMs: nowMs });
    return true;
  }

  /** The body of the call could not be fetched, so it did not run: a copy may. */
  missed(from: string, id: string): void {
    this.#running.delete(keyOf(from, id));
  }

  /** `result` is absent when the call was stopped. `isSent`: whether the result was published. */
  finished(from: string, id: string, nowMs: number, sent?: { result: Uint8Array; isSent: boolean }): void {
    const key = keyOf(from, id);
    if (!this.#running.delete(key)) return;
    const isKept = sent !== undefined && this.#keep(key, sent.result.length);
    const result = isKept ? sent.result : undefined;
    this.#finished.set(key, { finishedAtMs: nowMs, result, sentAtMs: sent?.isSent ? nowMs : -Infinity });
    this.#forgetOld(nowMs);
  }

  /** The link to the caller's node closed: its calls were stopped. */
  stopped(from: string, nowMs: number): void {
    for (const call of this.#running.values()) if (call.from === from) this.finished(from, call.id, nowMs);
  }

  asked(from: string, ids: readonly string[], nowMs: number): Asked {
    const answer: Asked = { unknown: [], lost: [], again: [], memory_ms: nowMs - this.#completeSinceMs };
    const unknown: string[] = [];
    const lost: string[] = [];
    for (const id of ids) {
      const key = keyOf(from, id);
      const running = this.#running.get(key);
      const finished = this.#finished.get(key);
      if (running) running.askedAtMs = nowMs;
      else if (!finished) unknown.push(id);
      else if (!finished.result) lost.push(id);
      else if (nowMs - finished.sentAtMs >= SEND_AGAIN_AFTER_MS) {
        finished.sentAtMs = nowMs;
        answer.again.push({ id, result: finished.result });
      }
    }
    return { ...answer, unknown, lost };
  }

  /** Running calls that no node polled for: they have to be cancelled. */
  unasked(nowMs: number): { from: string; id: string }[] {
    return [...this.#running.values()].filter(({ askedAtMs }) => nowMs - askedAtMs > UNASKED_MS);
  }

  /** This process was suspended: polls of that time are still unread. */
  excuse(nowMs: number): void {
    for (const call of this.#running.values()) call.askedAtMs = nowMs;
  }

  /** Makes room by dropping the oldest results. */
  #keep(key: string, bytes: number): boolean {
    if (bytes > MAX_RESULT_BYTES) return false;
    while (!this.#budget.take(bytes)) this.#drop(firstOf(this.#kept));
    this.#kept.add(key);
    return true;
  }

  /** Drops the result and remembers the id. */
  #drop(key: string): void {
    const finished = this.#finished.get(key);
    if (!this.#kept.delete(key) || !finished?.result) return;
    this.#budget.give(finished.result.length);
    finished.result = undefined;
  }

  #forgetOld(nowMs: number): void {
    for (const [key, { finishedAtMs }] of this.#finished) {
      if (nowMs - finishedAtMs <= REMEMBER_MS && this.#finished.size <= MOST_REMEMBERED) return;
      this.#drop(key);
      this.#finished.delete(key);
      this.#completeSinceMs = Math.max(this.#completeSinceMs, finishedAtMs);
    }
  }
}

function firstOf(keys: ReadonlySet<string>): string {
  const [first = ''] = keys;
  return first;
}

function keyOf(from: string, id: string): string {
  return `${from} ${id}`;
}
