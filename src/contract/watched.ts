/** What callers watch: which things of a worker changed, so that they list them again instead of asking every second. */
import { z } from 'zod';

import type { CallScope } from './call-scope.ts';

/** Changes are gathered for so long: a caller that lists them again needs some time too. */
const GATHER_MS = 100;
/** As long as the engine lets a call run; the caller calls again then. */
const WATCH_MS = 3_600_000;

/** What the functions with it share. */
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
  readonly #listeners = new Set<(what: string) => void>();

  changed(what: string): void {
    for (const listener of this.#listeners) listener(what);
  }

  /** Reports changes as events of the call until its caller leaves. */
  async report({ emit, signal }: CallScope): Promise<Record<string, never>> {
    const gathered = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    const report = () => {
      timer = undefined;
      emit?.({ type: 'changed', what: [...gathered] });
      gathered.clear();
    };
    const listener = (what: string) => {
      gathered.add(what);
      timer ??= setTimeout(report, GATHER_MS);
    };
    this.#listeners.add(listener);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.#listeners.delete(listener);
    clearTimeout(timer);
    return {};
  }
}
