/** The lines of a file that a failure shows around the nearest match. */
import type { NearestMatch } from './nearest.ts';
import { commonHead } from './similarity.ts';
import type { Source } from './source.ts';

/** Lines `line_from` to `line_to` of the file, which are `text`, around the nearest match of a chunk. */
export interface Region {
  line_from: number;
  line_to: number;
  /** Lines of the chunk that match there, without empty ones. */
  matched: number;
  /** Lines of the chunk, without empty ones. */
  of: number;
  first_difference?: {
    line: number;
    expected: string;
    /** Null after the end of the file. */
    found: string | null;
  };
  /** Undefined if the chunks before it in the failure show enough text. */
  text?: string;
}

const CONTEXT_LINES = 3;
const MAX_LINES = 40;
const MAX_LINE_CHARS = 400;
const MAX_CHARS = 4096;

/** Characters of a long line that a message shows before the first difference. */
const CHARS_BEFORE = 30;

export function regionOf(source: Source, lines: readonly string[], nearest: NearestMatch): Region {
  const { at, matched, of, firstDifference } = nearest;
  const centre = at + (firstDifference ?? 0);
  const first = Math.max(0, at - CONTEXT_LINES, Math.min(centre - MAX_LINES / 2, source.length - MAX_LINES));
  const until = Math.min(
    source.length,
    Math.max(at + lines.length + CONTEXT_LINES, matched === 0 ? Infinity : 0),
    first + MAX_LINES,
  );
  const shown: string[] = [];
  let left = MAX_CHARS;
  for (let i = first; i < until && left > 0; i++) {
    const line = cut(source.line(i), Math.min(left, MAX_LINE_CHARS));
    shown.push(line);
    left -= line.length + 1;
  }
  return {
    line_from: first + 1,
    line_to: first + shown.length,
    matched,
    of,
    ...(firstDifference !== undefined && {
      first_difference: {
        line: centre + 1,
        expected: cut(lines[firstDifference]!, MAX_LINE_CHARS),
        found: centre < 0 || centre >= source.length ? null : cut(source.line(centre), MAX_LINE_CHARS),
      },
    }),
    text: shown.join('\n'),
  };
}

function cut(line: string, most: number): string {
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
}

/** Cuts two long lines to start shortly before their first difference. */
export function excerpt(a: string, b: string): [string, string] {
  const skipped = commonHead(a, b, Math.min(a.length, b.length)) - CHARS_BEFORE;
  if (skipped <= CHARS_BEFORE) return [a, b];
  return [`…${a.slice(skipped)}`, `…${b.slice(skipped)}`];
}
