/**
 * Rewrites a pattern so that one search of a whole text has the matches of the original line by line.
 *
 * A line contains no newline, so where the original would match one it fails: newlines leave all classes, and a match
 * can no longer cross a line. Start and end of text become start and end of line; word boundaries treat a newline as an
 * end of text. The rewritten pattern also consumes the rest of the line after a match, so that a line is found once, by
 * its first match, and no match costs more than its line.
 */
import { anyPart, type Hir, type Look, type Range } from './hir.ts';

export interface LineForm {
  readonly pattern: string;
  /** The pattern has Unicode word boundaries: the crate leaves its fast engine at any byte beyond ASCII. */
  readonly isSlowBeyondAscii: boolean;
}

/** Undefined for a pattern that has no line form. */
export function lineFormOf(hir: Hir): LineForm | undefined {
  if (anyPart(hir, (part) => part.kind === 'look' && LOOKS[part.look] === undefined)) return undefined;
  return {
    pattern: `(?:${print(hir)})[^\\n]*`,
    isSlowBeyondAscii: anyPart(hir, (part) => part.kind === 'look' && part.look.includes('Unicode')),
  };
}

const LINE_FEED = 0x0a;
const NOTHING = '[a&&b]';

/** Every assertion in its line form. A carriage return as an end of line, (?R), has none. */
const LOOKS: Record<Look, string | undefined> = {
  Start: '(?m:^)',
  End: '(?m:$)',
  StartLF: '(?m:^)',
  EndLF: '(?m:$)',
  StartCRLF: undefined,
  EndCRLF: undefined,
  WordAscii: '(?-u:\\b)',
  WordAsciiNegate: '(?-u:\\B)',
  WordStartAscii: '(?-u:\\b{start})',
  WordEndAscii: '(?-u:\\b{end})',
  WordStartHalfAscii: '(?-u:\\b{start-half})',
  WordEndHalfAscii: '(?-u:\\b{end-half})',
  WordUnicode: '\\b',
  WordUnicodeNegate: '\\B',
  WordStartUnicode: '\\b{start}',
  WordEndUnicode: '\\b{end}',
  WordStartHalfUnicode: '\\b{start-half}',
  WordEndHalfUnicode: '\\b{end-half}',
};

function print(hir: Hir): string {
  switch (hir.kind) {
    case 'literal':
      return hir.bytes.includes(LINE_FEED) ? NOTHING : Array.from(Buffer.from(hir.bytes).toString(), escape).join('');
    case 'class':
      return printClass(hir.ranges.flatMap(withoutLineFeed));
    case 'look':
      return LOOKS[hir.look]!;
    case 'repeat':
      return `(?:${print(hir.sub)}){${hir.min},${hir.max === Infinity ? '' : hir.max}}${hir.isGreedy ? '' : '?'}`;
    case 'concat':
      return hir.parts.map(print).join('');
    case 'either':
      return `(?:${hir.branches.map(print).join('|')})`;
  }
}

function printClass(ranges: Range[]): string {
  if (ranges.length === 0) return NOTHING;
  return `[${ranges.map(([first, last]) => `${escape(first)}-${escape(last)}`).join('')}]`;
}

function withoutLineFeed([first, last]: Range): Range[] {
  if (first > LINE_FEED || last < LINE_FEED) return [[first, last]];
  const sides: Range[] = [
    [first, LINE_FEED - 1],
    [LINE_FEED + 1, last],
  ];
  return sides.filter(([from, to]) => from <= to);
}

function escape(char: string | number): string {
  const code = typeof char === 'number' ? char : char.codePointAt(0)!;
  return `\\x{${code.toString(16)}}`;
}
