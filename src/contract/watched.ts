/** Notifies callers that things of a worker changed, so that they need not poll its lists. */
import { z } from 'zod';

import type { CallScope } from './call-scope.ts';

/** Changes are gathered this long: a caller that lists them again needs some time too. */
const GATHER_MS = 100;
/** The longest time the engine lets a call run; then the caller calls again. */
const WATCH_MS = 3_600_000;

/** Shared by the functions that use it. */
export const watchFunction = {
  effect: 'read',
  isWatch: true,
  deadlineMs: WATCH_MS,
  request: z.object({}),
  response: z.object({}),
  events: z.object({ type: z.literal('changed'), what: z.array(z.string()) }),
  examples: [],
} as const;

export class Watched {
  readonly #watchers = new Set<CallScope['emit']>();
  /** For all of them together: a change costs the same however many watch. */
  readonly #gathered = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  changed(what: string): void {
    if (this.#watchers.size === 0) return;
    this.#gathered.add(what);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#report(), GATHER_MS).unref();
  }

  /** Reports changes as events of the call until its caller leaves. */
  async report({ emit, signal }: CallScope): Promise<Record<string, never>> {
    this.#watchers.add(emit);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.#watchers.delete(emit);
    return {};
  }

  #report(): void {
    this.#timer = undefined;
    const event = { type: 'changed', what: [...this.#gathered] };
    this.#gathered.clear();
    for (const emit of this.#watchers) emit?.(event);
  }
}
