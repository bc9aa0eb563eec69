/** Reloads pages: when they come into view and whenever a worker reports a change. */
import { useEffect, useRef, useState } from 'preact/hooks';

import { follow } from './follow.ts';
import { busState, call } from './session.ts';

type Watch = 'engine::watch' | 'shell::watch' | 'sandbox::watch';

/** Loads at once and after each change, never twice at the same time. `load` handles its own failures. */
export function useWatch(watch: Watch, load: () => Promise<unknown>, again: unknown[] = []): void {
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (busState.value === 'open') return followWatch(watch, () => latest.current());
  }, [watch, busState.value, ...again]);
}

/** Watches outside of a page. Returns a function that ends it. */
export function followWatch(watch: Watch, load: () => Promise<unknown>, restMs = 0): () => void {
  return follow({ watch: (options) => call(watch, {}, options), load, restMs, page: document });
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
