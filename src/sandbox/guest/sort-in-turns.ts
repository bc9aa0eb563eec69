/**
 * Sorts a list from a guest by the bytes of its texts, yielding in between.
 *
 * Short runs are sorted separately and then merged. Each text is encoded once, not for each comparison.
 */
import { takeTurn } from '#host';

/** Few enough that even long paths do not block the event loop. */
const ITEMS_AT_ONCE = 2048;

interface Scope {
  readonly signal: AbortSignal;
}

interface Keyed<T> {
  readonly item: T;
  /** One character per byte. */
  readonly key: string;
}

export async function sortInTurns<T>(list: readonly T[], textOf: (item: T) => string, scope: Scope): Promise<T[]> {
  let runs: Keyed<T>[][] = [];
  for (let from = 0; from < list.length; from += ITEMS_AT_ONCE) {
    if (from > 0) await takeTurn(scope);
    const run = list.slice(from, from + ITEMS_AT_ONCE);
    const keyed = run.map((item) => ({ item, key: Buffer.from(textOf(item)).toString('latin1') }));
    runs.push(keyed.sort((a, b) => (a.key < b.key ? -1 : 1)));
  }
  while (runs.length > 1) {
    const merged: Keyed<T>[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(await merge(runs[i]!, runs[i + 1] ?? [], scope));
    runs = merged;
  }
  return (runs[0] ?? []).map(({ item }) => item);
}

async function merge<T>(left: Keyed<T>[], right: Keyed<T>[], scope: Scope): Promise<Keyed<T>[]> {
  const merged: Keyed<T>[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const takesLeft = r === right.length || (l < left.length && left[l]!.key < right[r]!.key);
    merged.push(takesLeft ? left[l++]! : right[r++]!);
    if (merged.length % ITEMS_AT_ONCE === 0) await takeTurn(scope);
  }
  return merged;
}
