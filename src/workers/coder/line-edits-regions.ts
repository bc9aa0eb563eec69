/** Parts of a text as returned to a caller: numbered lines within bounds, whatever the text is. */
import { characterStart, chomp, countLines, linesAround, type ByteRange } from '#host';
import type { Edited, Site } from './line-edits.ts';

/** Lines shown before and after a change. */
const CONTEXT_LINES = 2;
export const MAX_SITES_PER_OP = 5;
/** More than the byte limit allows with ordinary lines. */
const MAX_SITES = 1000;
const MAX_ECHO_BYTES = 8192;
const MAX_REGION_BYTES = 2048;

const NOWHERE: ByteRange = { start: 0, end: 0 };

export interface TextRegion {
  from_line: number;
  to_line: number;
  content: string;
}

export interface Echo {
  changes: (TextRegion & { op: number })[];
  /** Whether some change is not shown. */
  isCut: boolean;
}

/** The changed parts in text order, each with some lines around it. */
export function echoChanges({ text, sites }: Edited): Echo {
  const shown = firstSites(sites);
  const windows = mergeWindows(text, shown);
  const echo: Echo = { changes: [], isCut: shown.length < sites.length };
  let [line, at, budget] = [1, 0, MAX_ECHO_BYTES];
  for (const { op, start, end } of windows) {
    line += countLines(text.subarray(at, start));
    at = start;
    const bytes = cutToBytes(text.subarray(start, end), Math.min(budget, MAX_REGION_BYTES));
    if (bytes.length < end - start) echo.isCut = true;
    if (bytes.length === 0 && end > start) break;
    echo.changes.push({ op, ...toRegion(bytes, line) });
    budget -= bytes.length;
  }
  return echo;
}

/** The lines of a range with some around it. */
export function regionAround(text: Buffer, range: ByteRange): TextRegion {
  const { start, end } = linesAround(text, range, CONTEXT_LINES);
  return toRegion(cutToBytes(text.subarray(start, end), MAX_REGION_BYTES), countLines(text.subarray(0, start)) + 1);
}

/** The first sites of each operation, and of these the first in the text. */
function firstSites(sites: readonly Site[]): Site[] {
  const seen = new Map<number, number>();
  const firstOfEachOp = sites.filter(({ op }) => {
    const count = (seen.get(op) ?? 0) + 1;
    seen.set(op, count);
    return count <= MAX_SITES_PER_OP;
  });
  return firstOfEachOp.sort((a, b) => a.start - b.start).slice(0, MAX_SITES);
}

/** Whole lines around each site, in text order. Adjacent sites of one operation are merged. */
function mergeWindows(text: Buffer, sites: readonly Site[]): Site[] {
  const last = new Map<number, Site>();
  const windows: Site[] = [];
  let line = NOWHERE;
  let around = NOWHERE;
  for (const { op, start, end } of sites) {
    // One line may be the whole text, so its ends are not searched again at every site.
    const isInLine = start >= line.start && Math.max(start + 1, end) <= line.end;
    if (!isInLine) {
      const first = linesAround(text, { start, end: start }, 0);
      line = end <= first.end ? first : NOWHERE;
      around = linesAround(text, { start, end }, CONTEXT_LINES);
    }
    const window = { op, ...around };
    const neighbour = last.get(op);
    if (neighbour && window.start <= neighbour.end) {
      neighbour.end = Math.max(neighbour.end, window.end);
    } else {
      windows.push(window);
      last.set(op, window);
    }
  }
  return windows.sort((a, b) => a.start - b.start);
}

/** Leaves out the newline of the last line. */
function toRegion(lines: Buffer, from_line: number): TextRegion {
  return { from_line, to_line: from_line + countLines(lines) - 1, content: chomp(lines).toString() };
}

/** Cuts between characters. */
function cutToBytes(text: Buffer, maxBytes: number): Buffer {
  if (text.length <= maxBytes) return text;
  return text.subarray(0, characterStart(text, maxBytes));
}
