/**
 * Payloads and results of the latest calls, for the console.
 *
 * Payloads may hold secrets, so nothing is recorded unless a console is open, and everything is dropped when the last
 * console closes. Records are truncated, masked copies of the newest calls, in a fixed number of bytes.
 */
import { decoded } from '#protocol';
import { clipJson, type Clipped } from './clip-json.ts';

export interface CallContent {
  /** Absent when the call began before a console watched. */
  payload?: Clipped;
  /** Absent while it runs, and when it ended without an answer. */
  outcome?: { kind: 'result' | 'error' } & Clipped;
  /** The file changes that its worker reported. */
  changes?: Clipped;
}

/** Bytes counted per recorded call beside its content. */
const ENTRY_BYTES = 512;

export class CallContents {
  readonly maxBytes: number;
  readonly #kept = new Map<string, CallContent>();
  readonly #watchers = new Set<object>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  watch(watcher: object): void {
    this.#watchers.add(watcher);
  }

  unwatch(watcher: object): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#kept.clear();
    this.#bytes = 0;
  }

  find(id: string): CallContent | undefined {
    return this.#kept.get(id);
  }

  addPayload(id: string, payload: unknown): void {
    if (!this.isWatched) return;
    this.#put(id, { payload: clipJson(payload) });
  }

  addOutcome(id: string, kind: 'result' | 'error', value: unknown, changes?: unknown): void {
    if (!this.isWatched) return;
    const outcome = { kind, ...clipJson(decoded(value)) };
    this.#put(id, { ...this.#kept.get(id), outcome, ...(changes !== undefined && { changes: clipJson(changes) }) });
  }

  /** A call that reached no worker. The caller chose its id, so it replaces no other record. */
  addRefused(id: string, payload: unknown, error: unknown): void {
    if (!this.isWatched || this.#kept.has(id)) return;
    this.#put(id, { payload: clipJson(payload), outcome: { kind: 'error', ...clipJson(error) } });
  }

  /** Adds as the newest; evicts the oldest. */
  #put(id: string, content: CallContent): void {
    this.#drop(id);
    this.#kept.set(id, content);
    this.#bytes += sizeOf(content);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    const content = this.#kept.get(id);
    if (!content) return;
    this.#kept.delete(id);
    this.#bytes -= sizeOf(content);
  }
}

function sizeOf({ payload, outcome, changes }: CallContent): number {
  const kept = [payload, outcome, changes];
  return kept.reduce((bytes, part) => bytes + (part?.json.length ?? 0), ENTRY_BYTES);
}
