/**
 * Replacement texts: with references to groups as the crate reads them, or literal.
 *
 * The crate expands an unknown reference to nothing, which has emptied lines of files, so it is refused before the
 * search. The crate does the replacing; each replacement carries a byte that UTF-8 never contains, to be counted and
 * removed.
 */
import { ReplacementError } from './regex-error.ts';

/** A replacement parsed for its pattern. */
export interface Replacement {
  /** Replacement in the crate's syntax, after the mark. */
  readonly template: Uint8Array;
}

export interface Replaced {
  readonly bytes: Uint8Array;
  readonly count: number;
}

const MARK = 0xff;

/** `$1`, `$name`, `${1}x` and `$$`; without braces the name ends after the last letter, digit or `_`. */
export function parseReplacement(
  text: string,
  regex: { source: string; groupNames: readonly (string | undefined)[] },
): Replacement {
  for (const [reference, plain, braced] of text.matchAll(REFERENCE)) {
    const name = plain ?? braced;
    if (name === undefined || isGroup(name, regex.groupNames)) continue;
    throw new ReplacementError(reference, regex.source, hintFor(name, regex.groupNames));
  }
  return { template: withMark(text) };
}

/** Inserted as it is, including dollar signs. */
export function literalReplacement(text: string): Replacement {
  return { template: withMark(text.replaceAll('$', '$$$$')) };
}

/** References to groups; also matches `$$`, to skip it. */
const REFERENCE = /\$\$|\$([0-9A-Za-z_]+)|\$\{([^}]*)\}/g;

function isGroup(name: string, groupNames: readonly (string | undefined)[]): boolean {
  return groupNames.includes(name) || (/^\+?[0-9]+$/.test(name) && Number(name) < groupNames.length);
}

function hintFor(name: string, groupNames: readonly (string | undefined)[]): string {
  const [number] = name.match(/^[0-9]+/) ?? [];
  const isNumberThenText = number !== undefined && number !== name && isGroup(number, groupNames);
  if (isNumberThenText) return `write \${${number}}${name.slice(number.length)} for group ${number} and then text`;
  return 'write $$ for a dollar sign';
}

function withMark(text: string): Uint8Array {
  return Buffer.concat([Buffer.of(MARK), Buffer.from(text)]);
}

/** A copy of a result without its marks; undefined when it has none, because then nothing was replaced. */
export function takeMarks(marked: Buffer, maxBytes: number): Replaced | 'too-large' | undefined {
  const first = marked.indexOf(MARK);
  if (first < 0) return undefined;

  const count = countMarks(marked, first);
  if (marked.length - count > maxBytes) return 'too-large';

  const bytes = Buffer.allocUnsafe(marked.length - count);
  let length = 0;
  let from = 0;
  for (let at = first; at >= 0; at = marked.indexOf(MARK, from)) {
    length += marked.copy(bytes, length, from, at);
    from = at + 1;
  }
  marked.copy(bytes, length, from);
  return { bytes, count };
}

function countMarks(marked: Buffer, first: number): number {
  let count = 0;
  for (let at = first; at >= 0; at = marked.indexOf(MARK, at + 1)) count++;
  return count;
}
