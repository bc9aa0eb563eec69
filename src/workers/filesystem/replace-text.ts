/**
 * An exact replacement in a text, as bytes, with the places it made.
 *
 * A caller who speaks of lines with LF means the lines of a CRLF file too: what is looked for is spelled as the file
 * spells it, and so is what goes in. One who writes CRLF is taken by the word.
 */
import { lineEnding, type ByteRange } from '#host';

export interface ReplaceRequest {
  oldString: string;
  newString: string;
  /** Occurrences to replace, from the top. */
  atMost: number;
}

export interface Replaced {
  text: Buffer;
  replacements: number;
  /** What was put in, in the new text. */
  places: ByteRange[];
}

/** Where a string is in a text, from the top, none overlapping another; in the spelling that the text has. */
export interface Occurrences {
  starts: number[];
  length: number;
}

export function findAll(text: Buffer, oldString: string): Occurrences {
  for (const spelling of spellingsOf(oldString)) {
    const wanted = Buffer.from(spelling);
    const starts: number[] = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) starts.push(at);
    if (starts.length > 0) return { starts, length: wanted.length };
  }
  return { starts: [], length: 0 };
}

export function replaceAt(text: Buffer, { starts, length }: Occurrences, request: ReplaceRequest): Replaced {
  const { oldString, newString, atMost } = request;
  const isVerbatim = oldString.includes('\r\n') || newString.includes('\r\n');
  const parts: Buffer[] = [];
  const places: ByteRange[] = [];
  let done = 0;
  let size = 0;
  for (const start of starts.slice(0, atMost)) {
    const isCrlf = !isVerbatim && lineEnding(text, start) === '\r\n';
    const kept = text.subarray(done, start);
    const put = Buffer.from(isCrlf ? newString.replaceAll('\n', '\r\n') : newString);
    parts.push(kept, put);
    places.push({ start: size + kept.length, end: size + kept.length + put.length });
    size += kept.length + put.length;
    done = start + length;
  }
  parts.push(text.subarray(done));
  return { text: Buffer.concat(parts), replacements: places.length, places };
}

function spellingsOf(oldString: string): string[] {
  if (!oldString.includes('\n')) return [oldString];
  return [oldString, oldString.replaceAll(/\r?\n/g, '\r\n'), oldString.replaceAll('\r\n', '\n')];
}
