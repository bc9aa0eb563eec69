/** Peeks at the beginning of a file that is still to be sent whole. */
import { isUtf8 } from 'node:buffer';

import type { OpenFile } from '#host';

/** The file unchanged, and its text when all of it is UTF-8 and shorter than the limit. */
export async function peekText(file: OpenFile, limitBytes: number): Promise<{ file: OpenFile; text?: string }> {
  if (file.sizeBytes >= limitBytes) return { file };

  const source = file.bytes[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  let next = await source.next();
  for (; !next.done && size < limitBytes; next = await source.next()) {
    seen.push(next.value);
    size += next.value.length;
  }
  const isWhole = next.done === true && size < limitBytes;
  const last = next;

  async function* replay(): AsyncGenerator<Uint8Array> {
    yield* seen;
    if (last.done) return;
    yield last.value;
    for (let more = await source.next(); !more.done; more = await source.next()) yield more.value;
  }
  const bytes = isWhole ? Buffer.concat(seen) : undefined;
  const text = bytes && isUtf8(bytes) ? bytes.toString() : undefined;
  return { file: { ...file, bytes: replay() }, text };
}
