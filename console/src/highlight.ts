/** Where a search matches in a line, for showing it. The engine decides what a match is; this only paints. */

export interface Segment {
  text: string;
  isHit: boolean;
}

export interface Query {
  text: string;
  isRegex: boolean;
  ignoreCase: boolean;
}

/** The line in pieces. A regex that JavaScript cannot read leaves the line unpainted. */
export function highlight(line: string, query: Query): Segment[] {
  const pattern = patternOf(query);
  if (!pattern) return [{ text: line, isHit: false }];

  const segments: Segment[] = [];
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    if (match[0] === '') continue;
    if (match.index > at) segments.push({ text: line.slice(at, match.index), isHit: false });
    segments.push({ text: match[0], isHit: true });
    at = match.index + match[0].length;
  }
  if (at < line.length || segments.length === 0) segments.push({ text: line.slice(at), isHit: false });
  return segments;
}

function patternOf({ text, isRegex, ignoreCase }: Query): RegExp | undefined {
  if (text === '') return undefined;
  const source = isRegex ? text : text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  try {
    return new RegExp(source, ignoreCase ? 'giu' : 'gu');
  } catch {
    return undefined;
  }
}
