/**
 * A parsed pattern in the crate's terms, reduced to the parts that decide which bytes can match.
 *
 * Flags, escapes, class names and comments are resolved by then: (?i)a is a class of two characters. Groups are
 * replaced by their contents.
 */
import type { Hir as RustHir, Look as RustLook } from 'rregex';

export type Look = RustLook['@variant'];

/** First and last code point. */
export type Range = readonly [first: number, last: number];

export type Hir =
  | { kind: 'literal'; bytes: Uint8Array }
  | { kind: 'class'; ranges: Range[] }
  | { kind: 'look'; look: Look }
  | { kind: 'repeat'; min: number; max: number; isGreedy: boolean; sub: Hir }
  /** One after the other; without parts, the empty match. */
  | { kind: 'concat'; parts: Hir[] }
  /** The first branch that matches. */
  | { kind: 'either'; branches: Hir[] };

/** Translates the result of the crate's `syntax` function. */
export function readHir({ kind }: RustHir): Hir {
  switch (kind['@variant']) {
    case 'Empty':
      return { kind: 'concat', parts: [] };
    case 'Literal':
      return { kind: 'literal', bytes: kind['@values'][0]['@values'][0] };
    case 'Class':
      return { kind: 'class', ranges: kind['@values'][0]['@values'][0].ranges.map(readRange) };
    case 'Look':
      return { kind: 'look', look: kind['@values'][0]['@variant'] };
    case 'Repetition': {
      const { min, max, greedy, sub } = kind['@values'][0];
      return { kind: 'repeat', min, max: max ?? Infinity, isGreedy: greedy, sub: readHir(sub) };
    }
    case 'Capture':
      return readHir(kind['@values'][0].sub);
    case 'Concat':
      return { kind: 'concat', parts: kind['@values'][0].map(readHir) };
    case 'Alternation':
      return { kind: 'either', branches: kind['@values'][0].map(readHir) };
  }
}

/** Characters in Unicode classes, numbers in those of (?-u), which are ASCII wherever the text must stay UTF-8. */
function readRange({ start, end }: { start: string | number; end: string | number }): Range {
  return [codeOf(start), codeOf(end)];
}

function codeOf(char: string | number): number {
  return typeof char === 'number' ? char : char.codePointAt(0)!;
}

/** Whether the predicate holds for the pattern or any part of it. */
export function anyPart(hir: Hir, isSuch: (part: Hir) => boolean): boolean {
  if (isSuch(hir)) return true;
  switch (hir.kind) {
    case 'repeat':
      return anyPart(hir.sub, isSuch);
    case 'concat':
      return hir.parts.some((part) => anyPart(part, isSuch));
    case 'either':
      return hir.branches.some((branch) => anyPart(branch, isSuch));
    default:
      return false;
  }
}
