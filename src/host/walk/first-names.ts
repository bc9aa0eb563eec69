/**
 * The first names of a directory in byte order, and the number of all names.
 *
 * Each batch keeps only names that can still be among the first, so an early page of a huge directory sorts next to
 * nothing, and other calls run between two batches.
 */
import type { ByteString } from '../text/byte-string.ts';
import { NAMES_AT_ONCE, type JailDir } from '../jail/jail-dir.ts';
import { takeTurn } from '../system/take-turn.ts';

export interface FirstNames {
  names: ByteString[];
  total: number;
}

/** Returns at most `limit` accepted names. Aborting the signal stops it between two batches. */
export async function firstNames(
  dir: Pick<JailDir, 'names'>,
  limit: number,
  scope: { readonly signal: AbortSignal; accepts?(name: ByteString): boolean },
): Promise<FirstNames> {
  let names: ByteString[] = [];
  let total = 0;
  for (const listed of dir.names()) {
    const batch = scope.accepts ? listed.filter((name) => scope.accepts!(name)) : listed;
    total += batch.length;
    const bound = names[limit - 1];
    const candidates = bound === undefined ? batch : batch.filter((name) => name < bound);
    names = mergeSorted(names, candidates.sort(), limit);

    // Hidden names are not in the batch.
    if (listed.length >= NAMES_AT_ONCE / 2) await takeTurn(scope);
  }
  return { names, total };
}

function mergeSorted(left: ByteString[], right: ByteString[], limit: number): ByteString[] {
  const merged: ByteString[] = [];
  let l = 0;
  let r = 0;
  while (merged.length < limit && (l < left.length || r < right.length)) {
    const takeLeft = r === right.length || (l < left.length && left[l]! < right[r]!);
    merged.push(takeLeft ? left[l++]! : right[r++]!);
  }
  return merged;
}
