/**
 * Sends files to callers, each through a channel in the background, as fast as the caller reads.
 *
 * A caller may never read the bytes, so the number of open reads is limited, and a stalled one is aborted. A small file
 * waits in its channel as a whole, and counts until it is read. All end with the worker.
 */
import { setMaxListeners } from 'node:events';

import type { Bus } from '#contract';
import { FileFault, HostError, type OpenFile } from '#host';
import { CHANNEL_CHUNK_BYTES, type ChannelRef, type ChannelWriter } from '#protocol';
import { withTimeout } from './stream-timeout.ts';

/** Each holds a descriptor or up to 4 MiB in its channel. */
const MAX_OPEN = 32;

/** Chunks buffered in a channel. */
const BUFFERED_CHUNKS = 64;

/** Longest time without a read. */
const STALLED_MS = 300_000;

export class OpenReads {
  readonly #maxOpen: number;
  readonly #stalledMs: number;
  readonly #closing = new AbortController();
  #count = 0;

  constructor({ maxOpen = MAX_OPEN, stalledMs = STALLED_MS } = {}) {
    this.#maxOpen = maxOpen;
    this.#stalledMs = stalledMs;
    setMaxListeners(maxOpen, this.#closing.signal);
  }

  get count(): number {
    return this.#count;
  }

  /** Starts to send the file and returns the channel to read it from. The file is closed when it is sent or aborted. */
  async send(file: OpenFile, bus: Bus): Promise<ChannelRef> {
    if (this.#count >= this.#maxOpen) {
      file.close();
      throw new FileFault('busy', `${this.#maxOpen} files that were opened before are not read to their end yet`);
    }
    this.#count++;
    try {
      const { reader, writer } = await bus.createChannel(BUFFERED_CHUNKS);
      void this.#pump(file, await bus.openWriter(writer)).finally(() => this.#count--);
      return reader;
    } catch (error) {
      this.#count--;
      file.close();
      throw new FileFault('stream', `no channel to send the file through: ${messageOf(error)}`, error);
    }
  }

  /** Aborts all of them. */
  close(): void {
    this.#closing.abort(new FileFault('stream', 'the worker stops'));
  }

  /** Always resolves: errors are reported to the reader. */
  async #pump(file: OpenFile, writer: ChannelWriter): Promise<void> {
    const timeout = {
      ms: this.#stalledMs,
      signal: this.#closing.signal,
      late: () => this.#late(),
    };
    try {
      try {
        for await (const piece of file.bytes) {
          for (let at = 0; at < piece.length; at += CHANNEL_CHUNK_BYTES) {
            await withTimeout(writer.write(piece.subarray(at, at + CHANNEL_CHUNK_BYTES)), timeout);
          }
        }
        await withTimeout(writer.end(), timeout);
      } finally {
        file.close();
      }
      if (writer.untilTaken) await withTimeout(writer.untilTaken(), timeout);
    } catch (error) {
      if (error instanceof HostError) await this.#sendError(error, writer);
      writer.abort();
    }
  }

  #late(): FileFault {
    return new FileFault('stream', `the reader took nothing for ${this.#stalledMs} ms`);
  }

  /** Sent as a control message: text is never part of the file. */
  async #sendError(error: HostError, writer: ChannelWriter): Promise<void> {
    const late = () => this.#late();
    try {
      const text = JSON.stringify({ error: error.message });
      await withTimeout(writer.write(text), { ms: this.#stalledMs, signal: this.#closing.signal, late });
    } catch {
      // The reader disconnected.
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
