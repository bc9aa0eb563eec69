/**
 * Lines of a text as byte ranges.
 *
 * A line includes its newline. After the last newline there is another line only when it is not empty: `"a\n"` has one
 * line, `""` has none.
 */
import { BLOCK_BYTES, LineBlock } from './line-index-block.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** From `start` up to and excluding `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The number of lines, and the offsets of the wanted ones. The line after the last begins at the end. */
export function locateLines(
  text: Buffer,
  wanted: Iterable<number> = [],
): { count: number; starts: Map<number, number> } {
  const numbers = [...new Set(wanted)].filter((number) => number > 0).sort((a, b) => a - b);
  const starts = new Map<number, number>(numbers[0] === 1 ? [[1, 0]] : []);
  let [newlines, next] = [0, starts.size];
  for (let position = 0; position < text.length; position += BLOCK_BYTES) {
    const block = LineBlock.of(text, position);
    const before = newlines;
    newlines += block.newlines;

    const first = next;
    while (next < numbers.length && numbers[next]! <= newlines + 1) next++;
    const here = numbers.slice(first, next);
    const offsets = block.behindNewlines(here.map((number) => number - 1 - before));
    here.forEach((number, i) => starts.set(number, position + offsets[i]!));
  }

  const count = newlines + (text.length === 0 || endsWithNewline(text) ? 0 : 1);
  if (numbers.includes(count + 1)) starts.set(count + 1, text.length);
  return { count, starts };
}

export function countLines(text: Buffer): number {
  return locateLines(text).count;
}

/** The end of the line that contains a byte. */
export function lineEnd(text: Buffer, at: number): number {
  return text.indexOf(NEWLINE, at) + 1 || text.length;
}

/** The start of the line that contains a byte. */
export function lineStart(text: Buffer, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf(NEWLINE, at - 1) + 1;
}

/** The ending of the line that contains a byte; a last line without newline counts as ending like the one before it. */
export function lineEnding(text: Buffer, at: number): '\n' | '\r\n' {
  const own = text.indexOf(NEWLINE, at);
  const newline = own < 0 ? text.lastIndexOf(NEWLINE) : own;
  return newline > 0 && text[newline - 1] === CARRIAGE_RETURN ? '\r\n' : '\n';
}

export function endsWithNewline(text: Buffer): boolean {
  return text.at(-1) === NEWLINE;
}

/** Removes the last line ending, if there is one. */
export function chomp(text: Buffer): Buffer {
  if (!endsWithNewline(text)) return text;
  return text.subarray(0, text.at(-2) === CARRIAGE_RETURN ? -2 : -1);
}

/** The lines that a range touches, with up to `context` more on either side. */
export function linesAround(text: Buffer, { start, end }: ByteRange, context: number): ByteRange {
  const around = { start: lineStart(text, start), end: lineEnd(text, Math.max(start, end - 1)) };
  for (let i = 0; i < context; i++) {
    if (around.start > 0) around.start = lineStart(text, around.start - 1);
    if (around.end < text.length) around.end = lineEnd(text, around.end);
  }
  return around;
}
