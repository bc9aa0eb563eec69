/**
 * Bytes as the text of an answer. Invalid UTF-8 becomes U+FFFD, as if all were decoded at once.
 *
 * A large text becomes JSON directly and not a string: most go to the wire, and nothing reads them here.
 */
import { isAscii, isUtf8, transcode } from 'node:buffer';

import { characterStart, escapeJson, takeTurn } from '#host';
import type { EncodedJson } from '#protocol';

/** From this size on, direct JSON is faster than a string and its JSON. */
export const LARGE_BYTES = 1 << 16;

/** Chunk size per turn: a few milliseconds of work. */
const BYTES_AT_ONCE = 1 << 20;

const QUOTE = Buffer.from('"');

export async function textContent(
  bytes: Buffer,
  scope: { readonly signal: AbortSignal },
): Promise<string | EncodedJson<string>> {
  // The usual case, ten times faster as Latin-1.
  if (bytes.length < LARGE_BYTES) return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString();

  const text = isUtf8(bytes) ? bytes : await repair(bytes, scope);
  const json = await escapeJson(text, scope);
  return { json: [QUOTE, ...json, QUOTE], decode: () => decode(text) };
}

async function repair(bytes: Buffer, scope: { readonly signal: AbortSignal }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    if (from > 0) await takeTurn(scope);
    const to = characterStart(bytes, from + BYTES_AT_ONCE);
    pieces.push(Buffer.from(bytes.toString('utf8', from, to)));
    from = to;
  }
  return Buffer.concat(pieces);
}

/** Decodes synchronously; for valid UTF-8, going through UTF-16 takes a third of the time. */
function decode(text: Buffer): string {
  return isAscii(text) ? text.toString('latin1') : transcode(text, 'utf8', 'utf16le').toString('utf16le');
}
