/**
 * The offsets of replacements, in the text before and in the text after.
 *
 * The crate returns the new text without offsets. So the first replacements are repeated between marks, to read their
 * offsets.
 */
import { parseReplacement } from './replacement.ts';
import type { Regex, Span } from './regex.ts';

/** A match, and its replacement. */
export interface ReplacedSpan {
  readonly before: Span;
  readonly after: Span;
}

/** Noncharacters of Unicode, which texts do not contain. */
const MARKS = ['\uFDD0', '\uFDD1', '\uFDD2'] as const;
const MARK_BYTES = Buffer.byteLength(MARKS[0]);

/** The first replacements in order; none when the text or the replacement contains a mark. */
export function replacedSpans(regex: Regex, text: Buffer, replacement: string, limit: number): ReplacedSpan[] {
  if (MARKS.some((mark) => text.includes(mark) || replacement.includes(mark))) return [];

  const [begin, middle, end] = MARKS;
  const marked = parseReplacement(`${begin}\${0}${middle}${replacement}${end}`, regex);
  const { bytes } = regex.replaceAll(text, marked, { limit });
  const traced = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

  const spans: ReplacedSpan[] = [];
  let [before, after] = [0, 0];
  let done = 0;
  for (let at = traced.indexOf(begin); at >= 0; at = traced.indexOf(begin, done)) {
    const match = { start: at + MARK_BYTES, end: traced.indexOf(middle, at) };
    const substitute = { start: match.end + MARK_BYTES, end: traced.indexOf(end, match.end) };
    const kept = at - done;
    spans.push({ before: span(before + kept, match), after: span(after + kept, substitute) });
    before += kept + match.end - match.start;
    after += kept + substitute.end - substitute.start;
    done = substitute.end + MARK_BYTES;
  }
  return spans;
}

function span(start: number, { start: from, end }: Span): Span {
  return { start, end: start + end - from };
}
