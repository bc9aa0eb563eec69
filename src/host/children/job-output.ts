/**
 * One output stream of a job: its first bytes are kept, and the rest is read so that the job never waits.
 *
 * A flood is not read by the server. What goes on for megabytes after the cap is handed to a `cat`, which drops it
 * faster than JavaScript could, in memory of its own, and leaves this thread to others.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { KeptOutput } from './kept-output.ts';

/** From here on a process of its own is worth its price. */
const FLOOD_BYTES = 2 * 1024 * 1024;

export class JobOutput {
  readonly kept: KeptOutput;
  /** When nothing more is to be kept. */
  readonly closed: Promise<unknown>;
  readonly #stream: Readable;
  #drain: ChildProcess | undefined;

  constructor(stream: Readable, maxBytes: number) {
    this.kept = new KeptOutput(maxBytes);
    this.closed = once(stream, 'close');
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      this.kept.add(chunk);
      if (this.kept.droppedBytes > FLOOD_BYTES && this.#drain === undefined) this.#handOver();
    });
  }

  /** Nothing more is read. */
  close(): void {
    this.#stream.destroy();
    this.#drain?.kill('SIGKILL');
    this.kept.trim();
  }

  /** Node stops reading a stream that it gives to a child; ours can then be closed. */
  #handOver(): void {
    this.#drain = spawn('/bin/cat', { cwd: '/', env: {}, stdio: [this.#stream, 'ignore', 'ignore'] });
    this.#drain.once('error', () => this.#stream.resume());
    if (this.#drain.pid !== undefined) this.#stream.destroy();
  }
}
