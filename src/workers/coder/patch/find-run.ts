/** Searches a file for the lines of a chunk, level by level. */
import type { Turns } from '#host';
import { findFit, runOf, fitsAt, type Found } from './find-fits.ts';
import { LOOSE } from './levels.ts';
import type { Chunk, SignedLine } from './patch.ts';
import type { Source } from './source.ts';

/** A match, with the level at which it was found. */
export interface RunMatch extends Found {
  level: number;
}

export interface FileSearch {
  readonly source: Source;
  readonly lastLevel: number;
  readonly turns: Turns;
}

/** Position in the file after the chunks placed so far. */
export class Cursor {
  /** Line after the last chunk. */
  at = 0;
  /** Line after the last changed line: context lines after it may also be the first lines of the next chunk. */
  changed = 0;
  /** Lines by which the last match was below the line number in its `@@` header. */
  drift = 0;

  /** Moves past a chunk that was placed. */
  pass({ near }: Chunk, { at, length, changed }: { at: number; length: number; changed: number }): void {
    this.at = at + length;
    this.changed = changed;
    if (near !== undefined) this.drift = at - Math.max(near - 1, 0);
  }
}

/** Returns the match at the strictest level that has one. */
export async function findRun(
  { source, lastLevel, turns }: FileSearch,
  lines: readonly string[],
  { from, near, isAtEnd = false }: { from: number; near?: number | undefined; isAtEnd?: boolean },
): Promise<RunMatch | undefined> {
  for (let level = 0; level <= lastLevel; level++) {
    if (turns.isOver) await turns.next();
    const table = await source.table(level, turns);
    const run = await runOf(lines, table, turns);
    if (!run) continue;

    const end = source.length - run.length;
    if (isAtEnd && end >= from && fitsAt(table, run, end)) return { at: end, level, others: 0 };
    const found = findFit(table, { run, from, near }, { countAll: level >= LOOSE });
    if (found) return { ...found, level };
  }
  return undefined;
}

/** The old (`-`) or new (`+`) lines of a chunk, with its context lines. */
export function linesOf(signed: readonly SignedLine[], side: '-' | '+'): string[] {
  const lines: string[] = [];
  for (const { sign, text } of signed) if (sign === ' ' || sign === side) lines.push(text);
  return lines;
}
