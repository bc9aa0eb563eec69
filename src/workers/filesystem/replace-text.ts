/**
 * An exact replacement in a text, as bytes, with the ranges it made.
 *
 * Text with LF also matches a CRLF file, and the replacement gets the ending of its line; text with CRLF keeps CRLF.
 * The size is computed before the result, so that a result that is too large costs nothing.
 */
import { lineEnd, lineEnding, type ByteRange } from '#host';
import type { Occurrences } from './find-text.ts';
import { withEndings } from './line-endings.ts';

export interface Layout {
  /** The replacement for each occurrence. */
  puts: Buffer[];
  /** Size of the new text in bytes. */
  size: number;
}

export interface Replaced {
  text: Buffer;
  /** Ranges of the replacements in the new text. */
  spans: ByteRange[];
}

export async function layOut(
  text: Buffer,
  { starts, length }: Occurrences,
  { oldString, newString }: { oldString: string; newString: string },
  scope: { readonly signal: AbortSignal },
): Promise<Layout> {
  const isVerbatim = oldString.includes('\r\n') || newString.includes('\r\n');
  const hasTwoSpellings = !isVerbatim && newString.includes('\n') && text.includes('\r\n');
  const plain = Buffer.from(newString);
  const spelled = { '\n': plain, '\r\n': hasTwoSpellings ? await withEndings(newString, '\r\n', scope) : plain };

  const puts: Buffer[] = [];
  let size = text.length;
  let put: Buffer = plain;
  let knownUntil = hasTwoSpellings ? 0 : text.length;
  for (const start of starts) {
    // Each line is examined once, however many occurrences it has.
    if (start >= knownUntil) {
      knownUntil = lineEnd(text, start);
      put = spelled[lineEnding(text, start)];
    }
    puts.push(put);
    size += put.length - length;
  }
  return { puts, size };
}

export function replaceAt(text: Buffer, { starts, length }: Occurrences, { puts, size }: Layout): Replaced {
  const result = Buffer.allocUnsafe(size);
  const spans: ByteRange[] = [];
  let done = 0;
  let end = 0;
  starts.forEach((at, i) => {
    const start = end + text.copy(result, end, done, at);
    end = start + puts[i]!.copy(result, start);
    spans.push({ start, end });
    done = at + length;
  });
  text.copy(result, end, done);
  return { text: result, spans };
}
