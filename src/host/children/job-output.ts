/**
 * One output stream of a job, read so that the job never blocks on a reader that has enough.
 *
 * The server does not read a flood: after the wanted bytes and some megabytes more, the pipe is handed to a `cat`,
 * which drops the rest faster than JavaScript could, outside this process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import type { OutputQueue } from '../process/output-queue.ts';
import type { OutputStream } from '../process/process.ts';

/** Beyond this much output, piping to `cat` is cheaper than reading. */
const FLOOD_BYTES = 2 * 1024 * 1024;

export class JobOutput {
  /** Resolves when there is nothing more to read. */
  readonly closed: Promise<unknown>;
  readonly #stream: Readable;
  #readBytes = 0;
  #drain: ChildProcess | undefined;

  /** Queues a little more than the wanted bytes, so that the reader detects that there was more. */
  constructor(
    readable: Readable,
    { stream, wantedBytes, queue }: { stream: OutputStream; wantedBytes: number; queue: OutputQueue },
  ) {
    this.closed = once(readable, 'close');
    this.#stream = readable;
    readable.on('data', (bytes: Buffer) => {
      if (this.#readBytes <= wantedBytes) queue.push({ stream, bytes });
      this.#readBytes += bytes.length;
      if (queue.isFull) readable.pause();
      if (this.#readBytes > wantedBytes + FLOOD_BYTES && this.#drain === undefined) this.#handOver();
    });
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Stops reading. */
  close(): void {
    this.#stream.destroy();
    this.#drain?.kill('SIGKILL');
  }

  /** Node stops reading a stream that it passes to a child, so this side can be closed. */
  #handOver(): void {
    this.#drain = spawn('/bin/cat', { cwd: '/', env: {}, stdio: [this.#stream, 'ignore', 'ignore'] });
    this.#drain.once('error', () => this.#stream.resume());
    if (this.#drain.pid !== undefined) this.#stream.destroy();
  }
}
