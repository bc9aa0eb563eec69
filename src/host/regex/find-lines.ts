/**
 * Finds the lines of a text that match, as if each were searched alone, in as few calls as possible.
 *
 * A line is the text between newlines, without one carriage return at its end; a newline at the end of the text does
 * not start another line. The line form of a pattern searches many lines at once. For that, the carriage return before
 * a newline becomes a newline too: offsets stay, and the empty line it makes is skipped.
 */
import { isAscii } from 'node:buffer';

import type { Engine } from './engine.ts';

/** Offsets in the haystack. */
export interface LineMatch {
  readonly lineStart: number;
  /** Before the newline and one carriage return. */
  readonly lineEnd: number;
  /** Where the first match in the line begins. */
  readonly matchStart: number;
}

/** Searches each line alone, or many at once with the line form. */
export type LineSearch =
  | { kind: 'each'; engine: Engine }
  | { kind: 'batch'; engine: Engine; isSlowBeyondAscii: boolean };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Batches start small, so that little is searched in vain when the limit is reached early, and then grow. */
const FIRST_BATCH_BYTES = 32_768;
const MAX_BATCH_BYTES = 262_144;

/** Smallest batch that is split to reach the fast engine. */
const MIN_BATCH_BYTES = 1_024;

/** The first `limit` lines that match. */
export function findLines(search: LineSearch, haystack: Uint8Array, limit: number): LineMatch[] {
  const found: LineMatch[] = [];
  const text = Buffer.from(haystack.buffer, haystack.byteOffset, haystack.length);
  let size = FIRST_BATCH_BYTES;
  for (let from = 0; from < text.length && found.length < limit;) {
    const to = batchEnd(text, from, size);
    if (search.kind === 'each') searchEach(search.engine, text, from, to, found, limit);
    else searchBatch(search, text, from, to, found);
    from = to + 1;
    size = Math.min(size * 2, MAX_BATCH_BYTES);
  }
  return found.slice(0, limit);
}

/** The end of the last line that fits into the size, or else of the first: its newline, or the end of the text. */
function batchEnd(text: Buffer, from: number, size: number): number {
  const end = Math.min(from + size, text.length);
  const newline = text.lastIndexOf(LINE_FEED, end - 1);
  if (end === text.length) return newline === end - 1 ? newline : end;
  return newline >= from ? newline : lineEndAfter(text, end);
}

function lineEndAfter(text: Buffer, at: number): number {
  const newline = text.indexOf(LINE_FEED, at);
  return newline < 0 ? text.length : newline;
}

function searchEach(engine: Engine, text: Buffer, from: number, to: number, found: LineMatch[], limit: number): void {
  for (let lineStart = from; lineStart <= to && found.length < limit;) {
    const newline = Math.min(lineEndAfter(text, lineStart), to);
    const lineEnd = withoutReturn(text, lineStart, newline);
    const [start] = engine.findAt(text.subarray(lineStart, lineEnd), 0);
    if (start !== undefined) found.push({ lineStart, lineEnd, matchStart: lineStart + start });
    lineStart = newline + 1;
  }
}

function withoutReturn(text: Buffer, lineStart: number, newline: number): number {
  return newline > lineStart && text[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline;
}

function searchBatch(
  search: Extract<LineSearch, { kind: 'batch' }>,
  text: Buffer,
  from: number,
  to: number,
  found: LineMatch[],
): void {
  const cut = search.isSlowBeyondAscii ? cutBeyondAscii(text, from, to) : undefined;
  if (cut !== undefined) {
    searchBatch(search, text, from, cut, found);
    searchBatch(search, text, cut + 1, to, found);
    return;
  }

  const batch = text.subarray(from, withoutReturn(text, from, to));
  const offsets = search.engine.findAll(batch, batch.includes(CARRIAGE_RETURN) ? endLinesAtReturns : undefined);
  for (let i = 0; i < offsets.length; i += 2) {
    const matchStart = from + offsets[i]!;
    if (isBetweenReturnAndFeed(text, matchStart, from)) continue;
    found.push({ lineStart: lineStartOf(text, matchStart, from), lineEnd: from + offsets[i + 1]!, matchStart });
  }
}

/** A newline near the middle of lines that are not all ASCII, so that ASCII lines can be searched separately. */
function cutBeyondAscii(text: Buffer, from: number, to: number): number | undefined {
  if (to - from <= MIN_BATCH_BYTES || isAscii(text.subarray(from, to))) return undefined;

  const middle = from + Math.floor((to - from) / 2);
  const before = text.lastIndexOf(LINE_FEED, middle);
  if (before >= from) return before;
  const after = lineEndAfter(text, middle);
  return after < to ? after : undefined;
}

function endLinesAtReturns(copy: Buffer): void {
  for (let at = copy.indexOf('\r\n'); at >= 0; at = copy.indexOf('\r\n', at + 2)) copy[at] = LINE_FEED;
}

function isBetweenReturnAndFeed(text: Buffer, at: number, from: number): boolean {
  return at > from && text[at] === LINE_FEED && text[at - 1] === CARRIAGE_RETURN;
}

function lineStartOf(text: Buffer, at: number, from: number): number {
  let start = at;
  while (start > from && text[start - 1] !== LINE_FEED) start--;
  return start;
}
