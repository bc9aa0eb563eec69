/**
 * Replacing in each line by itself, without its newline and one carriage return before it: no match goes on into the
 * next line, `$` is the end of a line, and endings stay as they are.
 */
import type { Regex } from './regex.ts';
import type { Replaced, Replacement } from './replacement.ts';

/** At most `limit` matches of each line. */
export function replaceInLines(
  regex: Regex,
  text: Buffer,
  replacement: Replacement,
  { limit }: { limit: number },
): Replaced {
  const pieces: Uint8Array[] = [];
  let count = 0;
  let kept = 0;
  for (const { lineStart, lineEnd } of regex.findLines(text)) {
    const replaced = regex.replaceAll(text.subarray(lineStart, lineEnd), replacement, { limit });
    pieces.push(text.subarray(kept, lineStart), replaced.bytes);
    count += replaced.count;
    kept = lineEnd;
  }
  return count === 0 ? { bytes: text, count } : { bytes: Buffer.concat([...pieces, text.subarray(kept)]), count };
}
