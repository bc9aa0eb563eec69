/**
 * The agent's file operations as calls. Failures are `GuestError` with the guest's errno.
 *
 * A call whose signal is aborted fails at once; the guest is notified and cleans up by itself.
 */
import type { ChangeMode, FileScope } from '#host';
import type { AgentClient } from './agent-client.ts';
import { OP, ProtocolError } from './frames.ts';
import { GuestError } from './guest-error.ts';
import { readRow, rowsOf, type Row } from './guest-rows.ts';
import type { GuestStream } from './guest-stream.ts';
import { RequestBytes, UNSAID } from './request-bytes.ts';

/** The errno of a file that is too large. */
const EFBIG = 27;

/** Largest piece of a file that is read. */
const MAX_PIECE_BYTES = 256 * 1024;

/** Sent instead of the length of a piece: the file cannot be read further, and the errno follows. */
const FAILED_PIECE = 0xffff_ffff;

/** Extra credit for reading a file, so that the guest does not wait for each acknowledgement. */
const READ_AHEAD_BYTES = 1024 * 1024;

type Scope = Pick<FileScope, 'signal'>;
export type ChangeScope = Pick<FileScope, 'signal' | 'noteChange'>;

export interface WriteOptions {
  /** The mode of the file before, or 0644, when absent. */
  mode?: number;
  uid?: number;
  gid?: number;
  parents: boolean;
}

export class GuestFiles {
  readonly #agent: AgentClient;

  constructor(agent: AgentClient) {
    this.#agent = agent;
  }

  /** Symlinks are not followed unless `isFollowed`. */
  async stat(path: string, { isFollowed = false, signal }: { isFollowed?: boolean } & Scope): Promise<Row> {
    const answer = await this.#ask(OP.stat, new RequestBytes().u8(isFollowed).text(path), signal);
    const read = readRow(answer);
    if (!read) throw new ProtocolError('payload', `a row of ${answer.length} bytes`);
    return read.row;
  }

  async *list(path: string, { signal }: Scope): AsyncGenerator<Row[]> {
    const request = new RequestBytes().u8(true).text(path);
    yield* rowsOf(this.#output(OP.list, request, signal));
  }

  /** Everything below a directory, each directory before its contents. Names are paths from the directory. */
  async *walk(path: string, { maxDepth, signal }: { maxDepth: number } & Scope): AsyncGenerator<Row[]> {
    yield* rowsOf(this.#output(OP.walk, new RequestBytes().u32(maxDepth).text(path), signal));
  }

  /** Stats the file and streams its bytes. */
  async read(path: string, { signal }: Scope): Promise<{ row: Row; bytes: AsyncGenerator<Buffer>; close: () => void }> {
    const stream = await this.#agent.request(
      OP.read,
      new RequestBytes()
        .u64(0)
        .u64(2n ** 63n - 1n)
        .text(path)
        .bytes(),
      { signal },
    );
    stream.widen(READ_AHEAD_BYTES);
    const output = outputOf(stream, signal);
    try {
      const { row, rest } = await readHead(output);
      return { row, bytes: following(rest, output), close: () => stream.abandon() };
    } catch (error) {
      await output.return(undefined);
      throw error;
    }
  }

  /** Reads files: yields the bytes of each, or its errno. */
  async *readMany(
    paths: readonly string[],
    { maxBytes, signal }: { maxBytes: number } & Scope,
  ): AsyncGenerator<{ path: string; content: Buffer | GuestError }> {
    const request = new RequestBytes().u64(maxBytes);
    for (const path of paths) request.text(path);
    const output = this.#output(OP.readMany, request, signal);
    try {
      const reader = new PieceReader(output);
      for (const path of paths) yield { path, content: await readContent(reader, maxBytes) };
    } finally {
      await output.return(undefined);
    }
  }

  /** Returns the number of bytes written. */
  async write(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteOptions,
    { signal }: Scope,
  ): Promise<number> {
    const request = new RequestBytes()
      .u32(options.mode ?? UNSAID)
      .u32(options.uid ?? UNSAID)
      .u32(options.gid ?? UNSAID)
      .u8(options.parents)
      .u8(true)
      .text(path);
    const stream = await this.#agent.request(OP.write, request.bytes(), { signal });
    return whileWanted(stream, signal, async () => {
      for await (const piece of bytes) {
        if (stream.isOver) break;
        await stream.send(piece);
      }
      stream.end();
      return Number(answerOf(await stream.answer, 8).readBigUInt64LE(0));
    });
  }

  /** Returns whether the directory was created. */
  async mkdir(path: string, { mode, parents, signal }: { mode: number; parents: boolean } & Scope): Promise<boolean> {
    const answer = await this.#ask(OP.mkdir, new RequestBytes().u32(mode).u8(parents).text(path), signal);
    return answer[0] === 1;
  }

  async remove(path: string, { recursive, signal }: { recursive: boolean } & Scope): Promise<void> {
    await this.#ask(OP.remove, new RequestBytes().u8(recursive).text(path), signal);
  }

  /** Returns how many entries were changed. Symlinks below are skipped. */
  async chmod(path: string, { mode, uid, gid, recursive, signal }: ChangeMode & Scope): Promise<number> {
    const request = new RequestBytes()
      .u32(mode)
      .u32(uid ?? UNSAID)
      .u32(gid ?? UNSAID)
      .u8(recursive)
      .text(path);
    return answerOf(await this.#ask(OP.chmod, request, signal), 4).readUInt32LE(0);
  }

  async rename(from: string, to: string, { overwrite, signal }: { overwrite: boolean } & Scope): Promise<void> {
    await this.#ask(OP.rename, new RequestBytes().u8(overwrite).text(from).text(to), signal);
  }

  async #ask(op: number, request: RequestBytes, signal: AbortSignal): Promise<Buffer> {
    const stream = await this.#agent.request(op, request.bytes(), { signal });
    return whileWanted(stream, signal, () => stream.answer);
  }

  async *#output(op: number, request: RequestBytes, signal: AbortSignal): AsyncGenerator<Buffer> {
    const stream = await this.#agent.request(op, request.bytes(), { signal });
    yield* outputOf(stream, signal);
  }
}

/** Leaving the loop early cancels the request in the guest. */
async function* outputOf(stream: GuestStream, signal: AbortSignal): AsyncGenerator<Buffer> {
  const onAbort = () => stream.interrupt(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const { bytes } of stream.output()) yield bytes;
  } finally {
    signal.removeEventListener('abort', onAbort);
    stream.abandon();
  }
}

async function whileWanted<T>(stream: GuestStream, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let onAbort = () => {};
  const unwanted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), unwanted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    stream.abandon();
  }
}

/** The row before a file's bytes, and the bytes that came with it. */
async function readHead(output: AsyncGenerator<Buffer>): Promise<{ row: Row; rest: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const read = readRow(head);
    if (read) return { row: read.row, rest: head.subarray(read.end) };
    const next = await output.next();
    if (next.done) throw new ProtocolError('payload', 'a file without its row');
    head = Buffer.concat([head, next.value]);
  }
}

function answerOf(answer: Buffer, bytes: number): Buffer {
  if (answer.length === bytes) return answer;
  throw new ProtocolError('payload', `an answer of ${answer.length} bytes; it has ${bytes}`);
}

async function* following(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* rest;
}

async function readContent(reader: PieceReader, maxBytes: number): Promise<Buffer | GuestError> {
  const errno = (await reader.read(4)).readUInt32LE(0);
  if (errno !== 0) return new GuestError(errno, 0);
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const length = (await reader.read(4)).readUInt32LE(0);
    if (length === FAILED_PIECE) return new GuestError((await reader.read(4)).readUInt32LE(0), 0);
    if (length === 0) return total > maxBytes ? new GuestError(EFBIG, 0) : Buffer.concat(pieces);
    total += length;
    // A file may have grown after it was measured; the piece that exceeds the limit is the last one.
    if (total > maxBytes + MAX_PIECE_BYTES) throw new ProtocolError('payload', `a file of ${total} bytes`);
    pieces.push(await reader.read(length));
    if (total > maxBytes) pieces.length = 0;
  }
}

/** Takes exact numbers of bytes from pieces of any size. */
class PieceReader {
  readonly #pieces: AsyncGenerator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncGenerator<Buffer>) {
    this.#pieces = pieces;
  }

  async read(bytes: number): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < bytes) {
      const next = await this.#pieces.next();
      if (next.done) throw new ProtocolError('payload', 'the answer ends too early');
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
}
