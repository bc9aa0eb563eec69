/** A longer name was not typed by hand, and comparing costs the product of both lengths. */
const LONGEST_COMPARED = 100;

/** The known name closest to a mistyped one, if any is close enough. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  if (given.length > LONGEST_COMPARED) return undefined;
  for (const name of known) {
    if (name.length > LONGEST_COMPARED) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (!best || distance < best.distance) best = { name, distance };
  }
  if (!best) return undefined;
  const tolerated = Math.max(1, Math.floor(Math.max(given.length, best.name.length) / 3));
  return best.distance <= tolerated ? best.name : undefined;
}

/** ` (did you mean "x"?)`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) best = Math.min(best, older[j - 2]! + 1);
      current.push(best);
    }
    older = previous;
    previous = current;
  }
  return previous[b.length]!;
}
