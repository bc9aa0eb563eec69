/**
 * Streams the entries of a tar archive.
 *
 * The body of an entry can be read until the next entry is requested; the unread rest is skipped.
 */
import { ArchiveError } from './archive-error.ts';
import { ByteStream } from './byte-stream.ts';
import { BLOCK_BYTES, parseTarHeader, type TarHeader } from './tar-header.ts';
import { MAX_METADATA_BYTES, readMetadata, type HeaderChanges } from './tar-metadata.ts';

export interface TarEntry {
  readonly header: TarHeader;
  readonly body: () => AsyncIterable<Buffer>;
}

export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const bytes = new ByteStream(source);
  try {
    let forAll: HeaderChanges = {};
    let forNext: HeaderChanges = {};
    for (;;) {
      const plain = await nextHeader(bytes);
      if (!plain) break;
      if (plain.type === 'metadata') {
        const changes = readMetadata(plain.flag, await metadataOf(bytes, plain));
        if (plain.flag === 'g') forAll = { ...forAll, ...changes };
        else forNext = { ...forNext, ...changes };
        continue;
      }

      const header = { ...plain, ...forAll, ...forNext };
      forNext = {};
      // Links and the like have no body, whatever size they state.
      const size = header.type === 'file' || header.type === 'other' ? header.size : 0;
      const body = new EntryBody(bytes, size);
      yield { header: { ...header, size }, body: () => body.read() };
      await body.skip();
    }
    await bytes.drain();
  } finally {
    await bytes.close();
  }
}

/** An archive ends with a block of zeros, or, written by careless tools, without one. */
async function nextHeader(bytes: ByteStream): Promise<TarHeader | undefined> {
  const block = await bytes.take(BLOCK_BYTES);
  if (block.length === 0) return undefined;
  if (block.length < BLOCK_BYTES) throw new ArchiveError('the archive ends in the middle of a header');
  return parseTarHeader(block);
}

async function metadataOf(bytes: ByteStream, { size }: TarHeader): Promise<Buffer> {
  if (size < 0 || size > MAX_METADATA_BYTES) throw new ArchiveError(`an entry has ${size} bytes of metadata`);
  const padded = await bytes.take(size + paddingOf(size));
  if (padded.length < size) throw new ArchiveError('the archive ends in the middle of an entry');
  return padded.subarray(0, size);
}

class EntryBody {
  readonly #bytes: ByteStream;
  #bodyLeft: number;
  #padding: number;

  constructor(bytes: ByteStream, size: number) {
    if (size < 0) throw new ArchiveError(`an entry has a size of ${size} bytes`);
    this.#bytes = bytes;
    this.#bodyLeft = size;
    this.#padding = paddingOf(size);
  }

  async *read(): AsyncGenerator<Buffer> {
    while (this.#bodyLeft > 0) yield await this.#next();
  }

  async skip(): Promise<void> {
    while (this.#bodyLeft > 0) await this.#next();
    await this.#bytes.take(this.#padding);
    this.#padding = 0;
  }

  async #next(): Promise<Buffer> {
    const piece = await this.#bytes.some(this.#bodyLeft);
    if (piece.length === 0) throw new ArchiveError('the archive ends in the middle of an entry');
    this.#bodyLeft -= piece.length;
    return piece;
  }
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}
