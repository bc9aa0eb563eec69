/** Follows the reports of a worker: loads at once and after each change, never twice at the same time. */
import type { CallOptions } from './bus.ts';

const WATCH_MS = 3_600_000;
const AGAIN_MS = 2_000;

interface Followed {
  /** Makes the call that reports changes. */
  watch: (options: CallOptions) => Promise<unknown>;
  /** Handles its own failures. */
  load: () => Promise<unknown>;
  /** Shortest time between two loads. */
  restMs?: number;
  /** Nothing is loaded while it is hidden. */
  page: Pick<Document, 'hidden' | 'addEventListener'>;
}

/** Returns a function that ends it. */
export function follow({ watch, load, restMs = 0, page }: Followed): () => void {
  const over = new AbortController();
  const { signal } = over;
  let isStale = false;
  let isLoading = false;
  const loadStale = async () => {
    if (isLoading) return;
    isLoading = true;
    while (isStale && !page.hidden && !signal.aborted) {
      isStale = false;
      await load();
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    isLoading = false;
  };
  const changed = () => {
    isStale = true;
    void loadStale();
  };
  const subscribe = () => {
    // Also after an end without a failure: the worker disconnected, and another may have registered since.
    const again = () => setTimeout(() => signal.aborted || (subscribe(), changed()), AGAIN_MS);
    // The engine reports a watch with nothing to report as running.
    const onEvent: CallOptions['onEvent'] = ({ type }) => type === 'changed' && changed();
    void watch({ onEvent, signal, timeoutMs: WATCH_MS }).then(again, again);
  };
  page.addEventListener('visibilitychange', () => void loadStale(), { signal });
  subscribe();
  changed();
  return () => over.abort();
}
