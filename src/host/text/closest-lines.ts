/**
 * Finds the lines of a text that are most similar to one that is not in it.
 *
 * Similarity is the share of common letter pairs, which tolerates other spaces, a changed word or a typo. It scans the
 * text once, yielding in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A line that resembles the wanted text. */
export interface ClosestLine {
  /** From 1. */
  line: number;
  text: string;
  /** From 0 to 1. */
  similarity: number;
}

const MOST = 3;
/** Less similar lines are not suggested. */
const LEAST_SIMILARITY = 0.4;

/** Compared beginning of a line. */
const MAX_COMPARED_CHARS = 400;
const MAX_COMPARED_LINES = 200_000;
/** How much of the wanted text is scanned for a line to compare by. */
const MAX_WANTED_CHARS = 65_536;
/** Comparing these takes a few milliseconds. */
const LINES_AT_ONCE = 2000;

/** Compares by the longest line of the wanted text, which is the most distinctive. */
export async function closestLines(
  text: string,
  wanted: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<ClosestLine[]> {
  const anchor = wanted
    .slice(0, MAX_WANTED_CHARS)
    .split('\n')
    .map(plain)
    .reduce((a, b) => (b.length > a.length ? b : a), '');
  const pairs = pairsOf(anchor);
  if (pairs.size === 0) return [];

  const best: ClosestLine[] = [];
  let line = 0;
  for (let start = 0; start < text.length && line < MAX_COMPARED_LINES;) {
    const end = text.indexOf('\n', start) < 0 ? text.length : text.indexOf('\n', start);
    const shown = text.slice(start, Math.min(end, start + MAX_COMPARED_CHARS));
    insert(best, { line: ++line, text: shown.replace(/\r$/, ''), similarity: likeness(pairs, plain(shown)) });
    start = end + 1;
    if (line % LINES_AT_ONCE > 0) continue;
    await nextTurn();
    signal.throwIfAborted();
  }
  return best;
}

function plain(line: string): string {
  return line.slice(0, MAX_COMPARED_CHARS).trim().replaceAll(/\s+/g, ' ');
}

function insert(best: ClosestLine[], line: ClosestLine): void {
  if (line.similarity < LEAST_SIMILARITY) return;
  const index = best.findIndex(({ similarity }) => similarity < line.similarity);
  best.splice(index < 0 ? best.length : index, 0, line);
  best.length = Math.min(best.length, MOST);
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < line.length; at++) pairs.add(line.slice(at, at + 2));
  return pairs;
}

/** From 0 to 1, in hundredths. */
function likeness(wanted: Set<string>, line: string): number {
  const pairs = pairsOf(line);
  let common = 0;
  for (const pair of pairs) if (wanted.has(pair)) common++;
  const total = wanted.size + pairs.size;
  return Math.round((200 * common) / total) / 100;
}
