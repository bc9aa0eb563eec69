/**
 * A terminal that this process makes with calls of the C library.
 *
 * Node reports the end of a terminal before its last bytes. So the last bytes are read through a duplicate of its
 * descriptor.
 */
import { closeSync, readSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as passed } from 'node:timers/promises';
import { ReadStream } from 'node:tty';

import type { ProcessInput } from '../process/process.ts';
import type { TerminalCalls } from './terminal-calls.ts';
import type { ConnectedTerminal, Terminal, TerminalSize } from './terminal.ts';

/** How long to wait for room when the program does not read. */
const FULL_MS = 5;
const REST_BYTES = 65_536;
/** The key that ends the input of a program that reads lines. */
const END_OF_INPUT = Buffer.from([4]);

export class OwnTerminal implements Terminal, ConnectedTerminal {
  readonly path: string;
  readonly output: Readable;
  readonly input: ProcessInput;
  readonly #calls: TerminalCalls;
  readonly #fd: number;
  #isOpen = true;

  constructor(calls: TerminalCalls, size: TerminalSize) {
    this.#calls = calls;
    const { master, path } = calls.open();
    this.path = path;
    this.#fd = calls.duplicate(master);
    this.resize(size);
    this.output = new TerminalOutput(new ReadStream(master), this.#fd);
    this.output.once('close', () => this.#close());
    const isClosed = () => !this.#isOpen;
    this.input = {
      write: (bytes) => this.#type(bytes),
      end: () => void this.#type(END_OF_INPUT),
      get isClosed() {
        return isClosed();
      },
    };
  }

  /** The first process of the job opens it by its path. */
  wrap(argv: readonly string[]): readonly string[] {
    return argv;
  }

  connect(): ConnectedTerminal {
    return this;
  }

  resize(size: TerminalSize): void {
    if (this.#isOpen) this.#calls.resize(this.#fd, size);
  }

  /** Closes it for a job that did not start. */
  close(): void {
    this.output.destroy();
  }

  async #type(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#isOpen;) {
      try {
        at += writeSync(this.#fd, bytes, at);
      } catch (error) {
        // EIO: all programs have closed it, so its output ends.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        await passed(FULL_MS);
      }
    }
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.#fd);
  }
}

class TerminalOutput extends Readable {
  readonly #stream: ReadStream;
  readonly #fd: number;

  constructor(stream: ReadStream, fd: number) {
    super();
    this.#stream = stream;
    this.#fd = fd;
    stream.on('data', (bytes) => {
      if (!this.push(bytes)) stream.pause();
    });
    // EIO marks the end.
    stream.on('error', () => {});
    stream.once('close', () => this.#end());
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#stream.destroyed) return done(error);
    this.#stream.once('close', () => done(error));
    this.#stream.destroy();
  }

  #end(): void {
    if (this.destroyed) return;
    for (let bytes = this.#rest(); bytes; bytes = this.#rest()) this.push(bytes);
    this.push(null);
  }

  #rest(): Buffer | undefined {
    const bytes = Buffer.allocUnsafe(REST_BYTES);
    try {
      const length = readSync(this.#fd, bytes);
      return length > 0 ? bytes.subarray(0, length) : undefined;
    } catch {
      return undefined;
    }
  }
}
