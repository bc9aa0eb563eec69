/**
 * Highlights the matches of a search in a line. The engine finds them; this only shows them.
 *
 * It never runs a user's regex: backtracking would freeze the page. The reply has the offset of the first match, so the
 * word there is highlighted.
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

/** A found line: its text, and the start of the first match, from 1, in UTF-8 bytes. */
export interface Hit {
  text: string;
  column: number;
}

const FIRST_WORD = /^(?:[\p{L}\p{N}_]+|.)/u;

/** The line in pieces. For a regex the end of a match is unknown. */
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

/** A found line without its indentation. */
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
