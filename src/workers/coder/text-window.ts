/**
 * Some lines of a text, as many as fit.
 *
 * Lines keep their endings, so that concatenated windows are the text.
 */
import { isUtf8 } from 'node:buffer';

import {
  bytesAsSource,
  endsWithNewline,
  lineEnd,
  LineIndex,
  lineStart,
  readLines,
  takeTurn,
  wholeCharacters,
  type ByteSource,
} from '#host';
import type { EncodedJson } from '#protocol';
import { textContent } from './text-content.ts';

export interface WindowSpec {
  /** Counted from 1. */
  lineFrom: number;
  /** Inclusive. */
  lineTo: number;
  /** Most bytes returned, line numbers included. Invalid UTF-8 counts as it is in the text. */
  maxBytes: number;
  isNumbered: boolean;
}

export interface TextWindow {
  content: string | EncodedJson<string>;
  is_utf8: boolean;
  line_from: number;
  line_to: number;
  total_lines?: number;
  truncated: boolean;
  last_line_cut?: true;
  next_line_from?: number;
}

/** Some milliseconds of numbering. */
const LINES_AT_ONCE = 10_000;

interface Scope {
  readonly signal: AbortSignal;
}

/** Undefined when the text has fewer lines; the index then knows how many. */
export async function showLines(
  source: ByteSource,
  index: LineIndex,
  { lineFrom, lineTo, maxBytes, isNumbered }: WindowSpec,
  scope: Scope,
): Promise<TextWindow | undefined> {
  const start = await index.startOf(lineFrom, source, scope);
  if (start === undefined) return undefined;

  const asked = lineTo - lineFrom + 1;
  const { bytes, newlines } = await readLines(source, { start, lines: asked, maxBytes }, scope);
  const isEnd = start + bytes.length >= source.size;
  const lastLine = lineFrom + newlines - (endsWithNewline(bytes) ? 1 : 0);
  const numberWidth = String(lastLine).length;
  const prefixBytes = isNumbered ? numberWidth + 1 : 0;
  const { end, lines, isCut } = await fit(bytes, newlines, { maxBytes, isEnd, prefixBytes }, scope);

  const shown = bytes.subarray(0, end);
  const numbering = { lines, first: lineFrom, width: numberWidth };
  const next = lineFrom + lines;
  const hasNext = isCut ? (await index.startOf(next, source, scope)) !== undefined : start + end < source.size;
  const totalLines = hasNext ? index.totalLines : next - 1;
  return {
    content: await textContent(isNumbered && end > 0 ? await withNumbers(shown, numbering, scope) : shown, scope),
    is_utf8: isUtf8(shown),
    line_from: lineFrom,
    line_to: next - 1,
    ...(totalLines !== undefined && { total_lines: totalLines }),
    truncated: isCut || (hasNext && lines < asked),
    ...(isCut && { last_line_cut: true }),
    ...(hasNext && { next_line_from: next }),
  };
}

/** How many lines fit and where they end; for a first line that does not fit, how much of it does. */
async function fit(
  bytes: Buffer,
  newlines: number,
  { maxBytes, isEnd, prefixBytes }: { maxBytes: number; isEnd: boolean; prefixBytes: number },
  scope: Scope,
): Promise<{ end: number; lines: number; isCut: boolean }> {
  const hasOpenLine = bytes.length > 0 && !endsWithNewline(bytes);
  const most = hasOpenLine && isEnd ? newlines + 1 : newlines;
  const mostEnd = hasOpenLine && !isEnd ? lineStart(bytes, bytes.length - 1) : bytes.length;

  const index = new LineIndex();
  const source = bytesAsSource(bytes);
  const endOf = async (lines: number) => (lines === most ? mostEnd : (await index.startOf(lines + 1, source, scope))!);
  let [lines, tooMany] = [0, most + 1];
  // Tries the whole first: it nearly always fits.
  for (let tried = most; lines + 1 < tooMany; tried = (lines + tooMany) >> 1) {
    if ((await endOf(tried)) + tried * prefixBytes <= maxBytes) lines = tried;
    else tooMany = tried;
  }
  if (lines > 0 || bytes.length === 0) return { end: await endOf(lines), lines, isCut: false };

  const room = Math.max(0, maxBytes - prefixBytes);
  return { end: wholeCharacters(bytes.subarray(0, room)), lines: 1, isCut: true };
}

/** Numbers right-aligned, then a tab. */
async function withNumbers(
  bytes: Buffer,
  { lines, first, width }: { lines: number; first: number; width: number },
  scope: Scope,
): Promise<Buffer> {
  const numbered = Buffer.allocUnsafe(bytes.length + lines * (width + 1));
  let [start, at] = [0, 0];
  for (let count = 0; count < lines; count++) {
    const end = lineEnd(bytes, start);
    at += numbered.write(`${String(first + count).padStart(width)}\t`, at, 'latin1');
    at += bytes.copy(numbered, at, start, end);
    start = end;
    if (count % LINES_AT_ONCE === LINES_AT_ONCE - 1) await takeTurn(scope);
  }
  return numbered;
}
