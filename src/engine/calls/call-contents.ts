/**
 * What the latest calls carried, for whoever looks at one of them: its payload and what came back.
 *
 * Payloads hold what agents and people would not leave lying about, so nothing is kept unless a console is open, and
 * everything is forgotten when the last one closes. Then it is a cut and masked copy, of the newest calls, in a fixed
 * number of bytes.
 */
import { decoded } from '#protocol';
import { clipJson, type Clipped } from './clip-json.ts';

export interface CallContent {
  /** Absent when the call came before anyone watched. */
  payload?: Clipped;
  /** Absent while it runs, and when it ended without an answer. */
  outcome?: { kind: 'result' | 'error' } & Clipped;
  /** What it changed in files, as its worker reported it. */
  changes?: Clipped;
}

/** What a kept call costs beside its bytes. */
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

  /** A call that reached nobody. Its id is what the caller chose: it replaces nothing. */
  addRefused(id: string, payload: unknown, error: unknown): void {
    if (!this.isWatched || this.#kept.has(id)) return;
    this.#put(id, { payload: clipJson(payload), outcome: { kind: 'error', ...clipJson(error) } });
  }

  /** As the newest. The oldest make room. */
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
