/** Notifies callers of changes in a worker's lists, so that they need not poll them, and of events. */
import { z } from 'zod';

import type { CallScope } from './call-scope.ts';
import * as wire from './schema/wire.ts';

/** Changes are gathered this long: listing them again takes a caller some time too. */
const GATHER_MS = 100;
/** The longest time the engine lets a call run; then the caller calls again. */
const WATCH_MS = 3_600_000;
/** Events kept for callers that come back. */
const MAX_KEPT = 256;

const Changed = z.object({
  type: z.literal('changed'),
  what: z.array(z.string()),
});

/** Shared by the functions that report changes. */
export const watchFunction = {
  effect: 'read',
  isWatch: true,
  deadlineMs: WATCH_MS,
  request: z.object({}),
  response: z.object({}),
  events: Changed,
  examples: [],
} as const;

/** Shared by those that also report events. */
export const watchEventsFunction = {
  ...watchFunction,
  request: z.object({
    since_seq: wire
      .uint64()
      .optional()
      .describe('Also report the kept events after this number, of the last 256; 0 for all of them.'),
  }),
  events: z.union([
    Changed,
    z.looseObject({
      type: z.string().describe('Kind of the event, such as job_ended.'),
      seq: wire.uint64().describe('Number of the event: the worker counts its events from 1.'),
      at_ms: wire.uint64().describe('Milliseconds since 1970.'),
    }),
  ]),
} as const;

/** Whether the function only reports changes until its caller leaves: every `isWatch` function is named so. */
export function isWatchId(functionId: string): boolean {
  return functionId.endsWith('::watch');
}

export interface WorkerEvent {
  readonly [field: string]: unknown;
  readonly type: string;
  readonly seq: number;
  readonly at_ms: number;
}

interface WatchOptions {
  readonly sinceSeq?: number | undefined;
  /** Whether the caller wants an event; absent for all events. */
  readonly wants?: ((event: WorkerEvent) => boolean) | undefined;
}

interface Watcher extends WatchOptions {
  readonly emit: CallScope['emit'];
}

export class Watched {
  readonly #watchers = new Set<Watcher>();
  /** Gathered once for all watchers: a change costs the same however many watch. */
  readonly #gathered = new Set<string>();
  readonly #kept: WorkerEvent[] = [];
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;

  changed(what: string): void {
    if (this.#watchers.size === 0) return;
    this.#gathered.add(what);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#report(), GATHER_MS).unref();
  }

  /** Reports an event at once. */
  happened(type: string, fields: Record<string, unknown>): void {
    const event = { type, seq: ++this.#seq, at_ms: Date.now(), ...fields };
    this.#kept.push(event);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const watcher of this.#watchers) offer(watcher, event);
  }

  /** Reports changes as events of the call until its caller leaves. */
  async report({ emit, signal }: CallScope, options: WatchOptions = {}): Promise<Record<string, never>> {
    const watcher = { emit, ...options };
    const { sinceSeq } = options;
    const kept = sinceSeq === undefined ? [] : this.#kept.filter(({ seq }) => seq > sinceSeq);
    for (const event of kept) offer(watcher, event);
    this.#watchers.add(watcher);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.#watchers.delete(watcher);
    return {};
  }

  #report(): void {
    this.#timer = undefined;
    const event = { type: 'changed', what: [...this.#gathered] };
    this.#gathered.clear();
    for (const { emit } of this.#watchers) emit?.(event);
  }
}

function offer({ emit, wants }: Watcher, event: WorkerEvent): void {
  if (wants?.(event) ?? true) emit?.(event);
}
