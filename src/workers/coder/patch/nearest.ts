/**
 * Finds the lines that a chunk without a match was most likely made for, and the first line that differs.
 *
 * Each line of the chunk that the file has votes for a position. Without votes the most similar line decides.
 */
import type { Turns } from '#host';
import { similarity } from './similarity.ts';
import type { LineTable, Source } from './source.ts';

/** A line that occurs more often than this in the file does not vote. */
const MAX_OCCURRENCES = 100;
/** Most lines of a chunk that vote. */
const MAX_VOTERS = 2000;

/** Most positions with equal votes that are compared by similarity. */
const MAX_COMPARED = 50;

/** Similarity below which two lines count as unrelated. */
const LEAST_SIMILARITY = 0.4;

export interface NearestMatch {
  /** File line that the first line of the chunk corresponds to; negative if that is before the start of the file. */
  at: number;
  /** Lines of the chunk that match there, without empty ones. */
  matched: number;
  /** Lines of the chunk, without empty ones. */
  of: number;
  /** Index in the chunk of the first line that differs. */
  firstDifference: number | undefined;
}

/** Votes are counted with `table`; lines differ if they differ in `last`, the loosest level that the request allows. */
export async function findNearest(
  source: Source,
  lines: readonly string[],
  { table, last, around, turns }: { table: LineTable; last: LineTable; around: number; turns: Turns },
): Promise<NearestMatch | undefined> {
  const votes = countVotes(lines, table);
  const best = votes.size > 0 ? bestOf(votes, around) : await mostSimilar(source, lines, { around, turns });
  if (best.length === 0) return undefined;

  const sums = best.map((at) => similarityAt(source, lines, at));
  const at = best[sums.indexOf(Math.max(...sums))]!;
  const differs = (line: string, i: number) => last.numbers[at + i] !== last.numberOf.get(last.keyOf(line));
  const firstDifference = lines.findIndex((line, i) => at + i >= source.length || differs(line, i));
  return {
    at,
    matched: votes.get(at) ?? 0,
    of: lines.filter((line) => line.trim() !== '').length,
    firstDifference: firstDifference < 0 ? undefined : firstDifference,
  };
}

function countVotes(lines: readonly string[], { numberOf, keyOf, offsets, positions }: LineTable): Map<number, number> {
  const votes = new Map<number, number>();
  for (const [i, line] of lines.slice(0, MAX_VOTERS).entries()) {
    const number = line.trim() === '' ? undefined : numberOf.get(keyOf(line));
    if (number === undefined || offsets[number + 1]! - offsets[number]! > MAX_OCCURRENCES) continue;
    for (let p = offsets[number]!; p < offsets[number + 1]!; p++) {
      const at = positions[p]! - i;
      votes.set(at, (votes.get(at) ?? 0) + 1);
    }
  }
  return votes;
}

/** Positions with the most votes, nearest to `around` first. */
function bestOf(votes: ReadonlyMap<number, number>, around: number): number[] {
  let most = 0;
  for (const count of votes.values()) most = Math.max(most, count);
  const best = [...votes].filter(([, count]) => count === most).map(([at]) => at);
  return best.sort((a, b) => Math.abs(a - around) - Math.abs(b - around)).slice(0, MAX_COMPARED);
}

/** Position where the longest line of the chunk meets the most similar line of the file. */
async function mostSimilar(
  source: Source,
  lines: readonly string[],
  { around, turns }: { around: number; turns: Turns },
): Promise<number[]> {
  const longest = lines.reduce((best, line, i) => (line.trim().length > lines[best]!.trim().length ? i : best), 0);
  const wanted = lines[longest]?.trim() ?? '';
  let best = { at: -1, similarity: LEAST_SIMILARITY };
  for (let i = 0; wanted !== '' && i < source.length; i++) {
    if ((i & 1023) === 0 && turns.isOver) await turns.next();
    const found = similarity(wanted, source.line(i).trim());
    const isNearer = found === best.similarity && Math.abs(i - around) < Math.abs(best.at - around);
    if (found > best.similarity || isNearer) best = { at: i, similarity: found };
  }
  return best.at < 0 ? [] : [best.at - longest];
}

function similarityAt(source: Source, lines: readonly string[], at: number): number {
  let sum = 0;
  for (const [i, line] of lines.slice(0, MAX_VOTERS).entries()) {
    if (at + i >= 0 && at + i < source.length) sum += similarity(line.trim(), source.line(at + i).trim());
  }
  return sum;
}
