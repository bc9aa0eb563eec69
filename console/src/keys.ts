/**
 * The keyboard: `/` to the search, `j` and `k` along the list, Enter opens, Esc closes, 1 to 8 the pages.
 *
 * One listener for the document. The page in view registers its list; letters typed into a field stay there.
 */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';

import { goTo, PAGES } from './route.ts';

export interface ListKeys {
  keys: string[];
  open(key: string): void;
  close(): void;
  /** Scrolls to a row that may not be rendered yet. */
  reveal?(key: string): void;
}

/** The row selected with j and k. */
export const cursor = signal<string | undefined>(undefined);

let list: ListKeys | undefined;

/** Makes a list the target of the keys, while its page is in view. */
export function useListKeys(given: ListKeys): void {
  // Before the rows are painted, and so before a user can press a key for them.
  useLayoutEffect(() => {
    list = given;
  });
  useEffect(
    () => () => {
      list = undefined;
      cursor.value = undefined;
    },
    [],
  );
}

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return escape();
    if (isTyping(event.target)) return enterFromSearch(event);
    if (act(event.key)) event.preventDefault();
  });
}

function act(key: string): boolean {
  if (key === '/') return focusSearch();
  if (key === 'j' || key === 'ArrowDown') return move(1);
  if (key === 'k' || key === 'ArrowUp') return move(-1);
  const page = PAGES[Number(key) - 1];
  if (page) goTo({ page });
  if (page) return true;
  return key === 'Enter' && document.activeElement === document.body && openCursor();
}

function escape(): void {
  if (isTyping(document.activeElement)) (document.activeElement as HTMLElement).blur();
  else list?.close();
}

/** Enter in a search opens the first row. A command line is not a search. */
function enterFromSearch(event: KeyboardEvent): void {
  const isSearch = event.target instanceof HTMLElement && event.target.matches('[data-search][type=search]');
  if (!isSearch || event.key !== 'Enter' || !list) return;
  const [first] = list.keys;
  if (first === undefined) return;
  cursor.value = first;
  event.target.blur();
  list.open(first);
}

function move(by: 1 | -1): boolean {
  const keys = list?.keys ?? [];
  if (keys.length === 0) return false;
  const at = cursor.value === undefined ? -1 : keys.indexOf(cursor.value);
  const next = at < 0 ? (by > 0 ? 0 : keys.length - 1) : Math.min(keys.length - 1, Math.max(0, at + by));
  cursor.value = keys[next];
  if (list?.reveal) list.reveal(keys[next]!);
  else requestAnimationFrame(() => document.querySelector('[data-cursor]')?.scrollIntoView({ block: 'nearest' }));
  return true;
}

function openCursor(): boolean {
  if (cursor.value === undefined || !list?.keys.includes(cursor.value)) return false;
  list.open(cursor.value);
  return true;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('[data-search]');
  search?.focus();
  search?.select();
  return search !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
