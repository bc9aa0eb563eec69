/**
 * Lines of a text as they are returned: clipped, decoded, with their neighbours.
 *
 * Bytes that are not UTF-8 become U+FFFD, and columns count the decoded text.
 */
import { isAscii, isUtf8 } from 'node:buffer';

import type { LineMatch } from '../../regex/index.ts';
import type { FindingsWriter } from '../findings.ts';
import type { LineFound, Query } from '../query.ts';
import type { TextMemory } from './text-memory.ts';

const CARRIAGE_RETURN = 0x0d;
const MAX_LOOPED_BYTES = 512;

/** A text in memory, by address. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A line that matches, by address. */
export interface Hit extends LineMatch {
  /** Set when it cannot be computed from the addresses. */
  readonly column?: number;
}

/** The line around an address: the text between newlines, without one carriage return at its end. */
export function lineAround(memory: TextMemory, text: TextRange, at: number): TextRange {
  const before = memory.kernels.lastNewline(text.start, at - text.start);
  const start = text.start + before + 1;
  return { start, end: lineEnd(memory, text, start, at) };
}

/** The end of a line that is known up to `from`. */
export function lineEnd(memory: TextMemory, text: TextRange, start: number, from: number): number {
  const newline = newlineAfter(memory, text, from);
  return newline > start && memory.buffer[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline;
}

/** The newline at or after an address, or the end of the text. */
export function newlineAfter(memory: TextMemory, text: TextRange, from: number): number {
  const found = memory.kernels.nextNewline(from, text.end - from);
  return found < 0 ? text.end : from + found;
}

export type Shown = Pick<Query, 'maxLineBytes' | 'contextLines' | 'isRegex' | 'ignoreCase'>;

/** Writes the matching lines with number, column and text. They must be in order. */
export function writeLines(
  writer: FindingsWriter,
  { memory, text, hits, query }: { memory: TextMemory; text: TextRange; hits: Hit[]; query: Shown },
): void {
  let line = 1;
  let counted = text.start;
  for (const { lineStart, lineEnd: end, matchStart, column } of hits) {
    line += memory.kernels.countNewlines(counted, lineStart - counted);
    counted = lineStart;
    const found: LineFound = {
      line,
      column: column ?? columnOf(memory.buffer, { start: lineStart, end: matchStart }, query),
      text: showLine(memory.buffer, { start: lineStart, end }, query.maxLineBytes),
    };
    if (query.contextLines > 0) Object.assign(found, neighbours(memory, text, found, lineStart, end, query));
    writer.addLine(found);
  }
}

/** The contract defines the column of a case-insensitive literal in the lower-cased line. */
export function columnOf(buffer: Buffer, range: TextRange, { isRegex, ignoreCase }: Shown): number {
  if (isAsciiIn(buffer, range)) return range.end - range.start + 1;
  const before = buffer.subarray(range.start, range.end);
  if (ignoreCase && !isRegex) return Buffer.byteLength(before.toString().toLowerCase()) + 1;
  return isUtf8(before) ? before.length + 1 : Buffer.byteLength(before.toString()) + 1;
}

export function showLine(buffer: Buffer, { start, end }: TextRange, maxBytes: number): string {
  const whole = end - start <= maxBytes;
  // Enough to contain the last character even if it is cut: decoding never makes text shorter.
  const shownEnd = Math.min(end, start + maxBytes + 4);
  if (isAsciiIn(buffer, { start, end: shownEnd })) {
    return buffer.toString('latin1', start, Math.min(end, start + maxBytes));
  }
  const bytes = buffer.subarray(start, shownEnd);
  if (whole && isUtf8(bytes)) return bytes.toString();
  return cutText(bytes.toString(), maxBytes);
}

/** A loop is faster than a native call and its object, at the usual length of lines. */
function isAsciiIn(buffer: Buffer, { start, end }: TextRange): boolean {
  if (end - start > MAX_LOOPED_BYTES) return isAscii(buffer.subarray(start, end));
  let seen = 0;
  for (let at = start; at < end; at++) seen |= buffer[at]!;
  return seen < 0x80;
}

/** The longest prefix of whole characters that fits into so many bytes. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function neighbours(
  memory: TextMemory,
  text: TextRange,
  { line }: LineFound,
  lineStart: number,
  end: number,
  query: Shown,
): Pick<LineFound, 'before' | 'after'> {
  const before: string[] = [];
  for (let at = lineStart; before.length < Math.min(query.contextLines, line - 1);) {
    const range = lineAround(memory, text, at - 1);
    before.unshift(showLine(memory.buffer, range, query.maxLineBytes));
    at = range.start;
  }
  const after: string[] = [];
  for (let at = newlineAfter(memory, text, end) + 1; at < text.end && after.length < query.contextLines;) {
    const newline = newlineAfter(memory, text, at);
    const hasReturn = newline > at && memory.buffer[newline - 1] === CARRIAGE_RETURN;
    after.push(showLine(memory.buffer, { start: at, end: hasReturn ? newline - 1 : newline }, query.maxLineBytes));
    at = newline + 1;
  }
  return { before, after };
}
