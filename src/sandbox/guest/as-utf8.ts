/** Bytes of a guest as searchable text: invalid UTF-8 becomes replacement characters, and lines stay lines. */
import { isUtf8 } from 'node:buffer';

import { KeptOutput, takeTurn } from '#host';

const BYTES_AT_ONCE = 1024 * 1024;

/** Yields in between, as 64 MiB of noise take half a second. */
export async function asUtf8(bytes: Buffer, scope: { readonly signal: AbortSignal }): Promise<Buffer> {
  if (isUtf8(bytes)) return bytes;

  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = new KeptOutput();
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    if (at > 0) await takeTurn(scope);
    text.add(Buffer.from(decoder.decode(bytes.subarray(at, at + BYTES_AT_ONCE), { stream: true })));
  }
  text.add(Buffer.from(decoder.decode()));
  return text.bytes;
}
