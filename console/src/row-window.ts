/** Which rows of a long list to render: those in view and some around them. All rows have the same height. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface RowWindow {
  from: number;
  until: number;
}

/** Rows rendered above and below, so that scrolling finds them there. */
const AROUND = 20;

export function rowWindow(view: { top: number; height: number }, rowPx: number, count: number): RowWindow {
  const first = Math.floor(view.top / rowPx) - AROUND;
  const last = Math.ceil((view.top + view.height) / rowPx) + AROUND;
  const from = Math.max(0, Math.min(first, count - (last - first)));
  return { from, until: Math.min(count, Math.max(last, from)) };
}

/** The part of a scrolling element that is in view, as it changes. */
export function useView(element: RefObject<HTMLElement | null>): { top: number; height: number } {
  const [view, setView] = useState({ top: 0, height: innerHeight });
  useEffect(() => {
    const box = element.current!;
    const look = () => setView({ top: box.scrollTop, height: box.clientHeight });
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, []);
  return view;
}

/** Width below which a row has two lines, as in the styles. */
const NARROW = '(max-width: 700px)';

export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const look = () => setNarrow(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
