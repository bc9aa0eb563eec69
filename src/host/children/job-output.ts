/**
 * One output stream of a job, read so that the job never waits for a reader that has enough.
 *
 * A flood is not read by the server. What goes on for megabytes after what is wanted is handed to a `cat`, which drops it
 * faster than JavaScript could, in memory of its own, and leaves this thread to others.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import type { OutputQueue } from '../process/output-queue.ts';
import type { OutputStream } from '../process/process.ts';

/** From here on a process of its own is worth its price. */
const FLOOD_BYTES = 2 * 1024 * 1024;

export class JobOutput {
  /** When nothing more is to be read. */
  readonly closed: Promise<unknown>;
  readonly #stream: Readable;
  #readBytes = 0;
  #drain: ChildProcess | undefined;

  /** Gives the queue a little more than is wanted, so that whoever reads it sees that there was more. */
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

  /** Nothing more is read. */
  close(): void {
    this.#stream.destroy();
    this.#drain?.kill('SIGKILL');
  }

  /** Node stops reading a stream that it gives to a child; ours can then be closed. */
  #handOver(): void {
    this.#drain = spawn('/bin/cat', { cwd: '/', env: {}, stdio: [this.#stream, 'ignore', 'ignore'] });
    this.#drain.once('error', () => this.#stream.resume());
    if (this.#drain.pid !== undefined) this.#stream.destroy();
  }
}
