/**
 * Replaces in each line separately, without its newline and one carriage return before it: no match crosses a line, `$`
 * is the end of a line, and line endings stay.
 *
 * Works in batches of lines: the offsets of a text of empty lines would take many times the text.
 */
import { ReplacedSizeError } from './regex-error.ts';
import type { Regex } from './regex.ts';
import type { Replaced, Replacement } from './replacement.ts';

const LINES_AT_ONCE_BYTES = 2 ** 20;
const LINE_FEED = 0x0a;

export interface InLines {
  /** Most matches per line. */
  limit: number;
  /** Size limit of the result; `ReplacedSizeError` beyond. */
  maxBytes: number;
}

export function replaceInLines(regex: Regex, text: Buffer, replacement: Replacement, options: InLines): Replaced {
  const pieces: Uint8Array[] = [];
  let count = 0;
  let size = 0;
  for (let from = 0; from < text.length;) {
    const end = text.indexOf(LINE_FEED, from + LINES_AT_ONCE_BYTES) + 1 || text.length;
    const replaced = replaceInSome(regex, text.subarray(from, end), replacement, options);
    pieces.push(replaced.bytes);
    count += replaced.count;
    size += replaced.bytes.length;
    if (count > 0 && size > options.maxBytes) throw new ReplacedSizeError(options.maxBytes);
    from = end;
  }
  return count === 0 ? { bytes: text, count } : { bytes: Buffer.concat(pieces), count };
}

function replaceInSome(regex: Regex, lines: Buffer, replacement: Replacement, { limit, maxBytes }: InLines): Replaced {
  const pieces: Uint8Array[] = [];
  let count = 0;
  let size = 0;
  let kept = 0;
  for (const { lineStart, lineEnd } of regex.findLines(lines)) {
    const replaced = regex.replaceAll(lines.subarray(lineStart, lineEnd), replacement, { limit, maxBytes });
    pieces.push(lines.subarray(kept, lineStart), replaced.bytes);
    count += replaced.count;
    size += replaced.bytes.length;
    if (size > maxBytes) throw new ReplacedSizeError(maxBytes);
    kept = lineEnd;
  }
  return count === 0 ? { bytes: lines, count } : { bytes: Buffer.concat([...pieces, lines.subarray(kept)]), count };
}
