/** Bytes as text, piece by piece, with turns for others in between where there are many. */
import { isAscii } from 'node:buffer';

import { characterStart, takeTurn } from '#host';

/** Some milliseconds each; bytes that are not UTF-8 take twice as long. */
const ASCII_AT_ONCE = 16 << 20;
const BYTES_AT_ONCE = 1 << 20;

/** What is not UTF-8 becomes U+FFFD, as if all were decoded at once. */
export async function decodeText(bytes: Buffer, scope: { readonly signal: AbortSignal }): Promise<string> {
  // The usual case, ten times faster as Latin-1.
  if (bytes.length <= ASCII_AT_ONCE && isAscii(bytes)) return bytes.toString('latin1');

  let text = '';
  for (let from = 0; from < bytes.length;) {
    if (from > 0) await takeTurn(scope);
    const to = characterStart(bytes, from + BYTES_AT_ONCE);
    text += bytes.toString('utf8', from, to);
    from = to;
  }
  return text;
}
