/** Asking again while a page is in view: never two questions at once, none while the tab is hidden. */
import { useEffect, useRef } from 'preact/hooks';

import { busState } from './session.ts';

/** Asks at once, then a while after each answer. `ask` handles its own failures. */
export function usePolling(ask: () => Promise<void>, everyMs: number, again: unknown[] = []): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const round = async () => {
      if (busState.value === 'open' && !document.hidden) await latest.current();
      if (!isOver) timer = setTimeout(() => void round(), everyMs);
    };
    void round();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs, busState.value, ...again]);
}
