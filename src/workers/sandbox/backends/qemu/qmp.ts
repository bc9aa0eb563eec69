/**
 * Client of QMP, QEMU's control channel: commands, replies in order, and events in between.
 *
 * Commands may be written before QEMU listens; it handles them one after another. A guest may have taken over the QEMU
 * process, so lines have a size limit and the first one that is not QMP ends the channel.
 */
import type { Duplex } from 'node:stream';

import { z } from 'zod';

const MAX_LINE_BYTES = 256 * 1024;

const Message = z.object({
  QMP: z.unknown().optional(),
  event: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  return: z.unknown().optional(),
  error: z.object({ desc: z.string() }).optional(),
});

export interface QmpEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Waiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

interface Watch extends Waiter<QmpEvent> {
  matches(event: QmpEvent): boolean;
}

/** QEMU's reason for refusing a command. */
export class QmpError extends Error {
  override readonly name = 'QmpError';
}

export class Qmp {
  readonly #channel: Duplex;
  readonly #asked: Waiter<unknown>[] = [];
  readonly #watches = new Set<Watch>();
  #line = Buffer.alloc(0);
  #end: Error | undefined;

  constructor(channel: Duplex) {
    this.#channel = channel;
    channel.on('data', (piece: Buffer) => this.#read(piece));
    channel.on('error', (error) => this.#lose(error));
    for (const event of ['end', 'close']) {
      channel.on(event, () => this.#lose(new Error('QEMU closed its control channel')));
    }
    // QEMU accepts nothing else before this.
    this.execute('qmp_capabilities').catch(() => {});
  }

  /** Resolves with QEMU's return value; rejects with its reason, or when QEMU has ended. */
  execute(command: string, args?: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      this.#channel.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }) })}\n`);
    });
  }

  /** The next event that matches. */
  event(matches: (event: QmpEvent) => boolean): Promise<QmpEvent> {
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => this.#watches.add({ matches, resolve, reject }));
  }

  #read(piece: Buffer): void {
    let rest = Buffer.concat([this.#line, piece]);
    for (let end = rest.indexOf('\n'); end >= 0 && !this.#end; end = rest.indexOf('\n')) {
      this.#take(rest.subarray(0, end).toString());
      rest = rest.subarray(end + 1);
    }
    this.#line = rest;
    if (rest.length > MAX_LINE_BYTES) this.#lose(new Error(`a line of QMP is longer than ${MAX_LINE_BYTES} bytes`));
  }

  #take(line: string): void {
    const message = parse(line);
    if (!message) return this.#lose(new Error('QEMU sent an invalid QMP message'));
    if (message.event !== undefined) return this.#emit({ name: message.event, data: message.data ?? {} });
    if (message.QMP !== undefined) return;

    const asked = this.#asked.shift();
    if (message.error) asked?.reject(new QmpError(message.error.desc));
    else asked?.resolve(message.return);
  }

  #emit(event: QmpEvent): void {
    for (const watch of this.#watches) {
      if (!watch.matches(event)) continue;
      this.#watches.delete(watch);
      watch.resolve(event);
    }
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#end = error;
    this.#channel.destroy();
    for (const waiter of [...this.#asked.splice(0), ...this.#watches]) waiter.reject(error);
    this.#watches.clear();
  }
}

function parse(line: string): z.output<typeof Message> | undefined {
  try {
    return Message.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
