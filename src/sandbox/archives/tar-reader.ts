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
        const changes = readMetadata(plain, await metadataOf(bytes, plain));
        if (plain.flag === 'g') forAll = { ...forAll, ...changes };
        else forNext = { ...forNext, ...changes };
        continue;
      }

      const header = { ...plain, ...forAll, ...forNext };
      forNext = {};
      // Links and the like have no body, whatever size they state.
      const size = header.type === 'file' || header.type === 'other' ? header.size : 0;
      const body = new EntryBody(bytes, { name: header.name, size });
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
  if (block.length < BLOCK_BYTES) throw endsEarly(bytes, 'a header');
  return parseTarHeader(block);
}

async function metadataOf(bytes: ByteStream, { name, size }: TarHeader): Promise<Buffer> {
  if (size < 0 || size > MAX_METADATA_BYTES)
    throw new ArchiveError(`${name} has ${size} bytes of metadata; the limit is ${MAX_METADATA_BYTES}`);
  const padded = await bytes.take(size + paddingOf(size));
  if (padded.length < size) throw endsEarly(bytes, `the metadata ${name}`);
  return padded.subarray(0, size);
}

class EntryBody {
  readonly #bytes: ByteStream;
  readonly #name: string;
  #bodyLeft: number;
  #padding: number;

  constructor(bytes: ByteStream, { name, size }: Pick<TarHeader, 'name' | 'size'>) {
    if (size < 0) throw new ArchiveError(`${name} has a size of ${size} bytes`);
    this.#bytes = bytes;
    this.#name = name;
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
    if (piece.length === 0) throw endsEarly(this.#bytes, this.#name);
    this.#bodyLeft -= piece.length;
    return piece;
  }
}

function endsEarly(bytes: ByteStream, part: string): ArchiveError {
  return new ArchiveError(`the archive ends at byte ${bytes.offset}, in the middle of ${part}: it is incomplete`);
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}
