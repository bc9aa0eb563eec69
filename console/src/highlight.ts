/**
 * Where a search matches in a line, for showing it. The engine decides what a match is; this only paints.
 *
 * No regex of a user is run here: one that backtracks would stand the page still. Of its matches the reply tells where the
 * first begins, so the word there is painted.
 */

export interface Segment {
  text: string;
  isHit: boolean;
}

export interface Query {
  text: string;
  isRegex: boolean;
  ignoreCase: boolean;
}

/** A line that was found: its text, and where the first match begins, from 1, in bytes of UTF-8. */
export interface Hit {
  text: string;
  column: number;
}

const FIRST_WORD = /^(?:[\p{L}\p{N}_]+|.)/u;

/** The line in pieces. Where a regex matches in it is not known. */
export function highlight(line: string, { text, isRegex, ignoreCase }: Query): Segment[] {
  if (text === '' || isRegex) return [{ text: line, isHit: false }];

  const literal = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), ignoreCase ? 'giu' : 'gu');
  const segments: Segment[] = [];
  let at = 0;
  for (const match of line.matchAll(literal)) {
    if (match.index > at) segments.push({ text: line.slice(at, match.index), isHit: false });
    segments.push({ text: match[0], isHit: true });
    at = match.index + match[0].length;
  }
  if (at < line.length || segments.length === 0) segments.push({ text: line.slice(at), isHit: false });
  return segments;
}

/** A line that was found, without its indentation. */
export function highlightHit({ text, column }: Hit, query: Query): Segment[] {
  const line = text.trimStart();
  if (!query.isRegex) return highlight(line, query);

  const start = Math.max(0, indexOfByte(text, column - 1) - (text.length - line.length));
  const [word = ''] = FIRST_WORD.exec(line.slice(start)) ?? [];
  return [
    { text: line.slice(0, start), isHit: false },
    { text: word, isHit: true },
    { text: line.slice(start + word.length), isHit: false },
  ].filter((segment) => segment.text !== '');
}

function indexOfByte(text: string, byte: number): number {
  let [index, bytes] = [0, 0];
  for (const point of text) {
    if (bytes >= byte) return index;
    const code = point.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    index += point.length;
  }
  return index;
}
