/** Reloads pages: when they come into view and whenever a worker reports a change. */
import { useEffect, useRef, useState } from 'preact/hooks';

import { follow } from './follow.ts';
import { busState, call } from './session.ts';

type Watch = 'engine::watch' | 'shell::watch' | 'sandbox::watch';

const WATCH_MS = 3_600_000;
const AGAIN_MS = 2_000;

/** Loads at once and after each change, never twice concurrently. `load` handles its own failures. */
export function useWatch(watch: Watch, load: () => Promise<unknown>, again: unknown[] = []): void {
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (busState.value === 'open') return followWatch(watch, () => latest.current());
  }, [watch, busState.value, ...again]);
}

/** The same outside a page. Returns a function that stops it. */
export function follow(watch: Watch, load: () => Promise<unknown>): () => void {
  const over = new AbortController();
  const { signal } = over;
  let state: 'idle' | 'loading' | 'stale' = 'idle';
  const changed = async () => {
    const isFree = state === 'idle';
    state = 'stale';
    if (!isFree) return;
    while (state === 'stale' && !document.hidden && !signal.aborted) {
      state = 'loading';
      await load();
    }
    if (state === 'loading') state = 'idle';
  };
  const shown = () => {
    if (document.hidden || state !== 'stale') return;
    state = 'idle';
    void changed();
  };
  const subscribe = (): void => {
    const options = { onEvent: () => void changed(), signal, timeoutMs: WATCH_MS };
    void call(watch, {}, options).catch(() => {
      if (!signal.aborted) setTimeout(() => signal.aborted || (subscribe(), void changed()), AGAIN_MS);
    });
  };
  document.addEventListener('visibilitychange', shown, { signal });
  subscribe();
  void changed();
  return () => over.abort();
}

/** Renders the component again every second, for durations of running calls. */
export function useSeconds(isOn: boolean): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setCount((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [isOn]);
}
