/**
 * The host's end of the channel to one guest: many requests at once over one stream of bytes.
 *
 * Every frame of the guest is hostile. The first one that breaks a rule ends the connection, and with it every call that
 * waits, at once and for the same reason.
 */
import type { Duplex } from 'node:stream';

import { execute, type ExecOutcome, type ExecSpec } from './execute.ts';
import {
  frameHeader,
  FrameReader,
  MAX_FRAME_BYTES,
  MAX_PAYLOAD_BYTES,
  OP,
  PROTOCOL_VERSION,
  ProtocolError,
  WINDOW_BYTES,
  type Frame,
} from './frames.ts';
import { GuestLost } from './guest-error.ts';
import { GuestStream } from './guest-stream.ts';

export type { ExecOutcome, ExecSpec } from './execute.ts';

/** Fewer than the agent has room for; further requests wait here. */
const MAX_OPEN = 100;

const MAX_STREAM_ID = 0x7fff_ffff;

export class AgentClient {
  /** Why the connection ended. It does not before that. */
  readonly closed: Promise<Error>;

  readonly #channel: Duplex;
  readonly #reader = new FrameReader();
  readonly #streams = new Map<number, GuestStream>();
  /** Requests that wait for one of the open ones to end. */
  readonly #queue: (() => void)[] = [];
  #open = 0;
  #lastId = 0;
  #end: Error | undefined;
  #resolveClosed!: (error: Error) => void;
  #onHello: (() => void) | undefined;
  #drained: Promise<void> | undefined;

  private constructor(channel: Duplex) {
    this.#channel = channel;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    channel.on('data', (piece: Buffer) => this.#read(piece));
    channel.on('error', (error) => this.#lose(new GuestLost('the guest is gone', { cause: error })));
    channel.on('close', () => this.#lose(new GuestLost('the guest is gone')));
    channel.on('end', () => this.#lose(new GuestLost('the guest is gone')));
  }

  /** Greets the guest and waits until it answers. */
  static async open(channel: Duplex, options: { deadlineMs: number; signal?: AbortSignal }): Promise<AgentClient> {
    const client = new AgentClient(channel);
    const greeted = new Promise<void>((resolve) => (client.#onHello = resolve));
    const late = new GuestLost(`the guest did not answer within ${options.deadlineMs} ms`);
    const timer = setTimeout(() => client.#lose(late), options.deadlineMs);
    const onAbort = () => client.#lose(options.signal!.reason as Error);
    options.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const version = Buffer.alloc(4);
      version.writeUInt32LE(PROTOCOL_VERSION);
      void client.#send(0, OP.hello, version);
      const lost = await Promise.race([greeted, client.closed]);
      if (lost) throw lost;
      return client;
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Runs one command to its end. */
  async exec(spec: ExecSpec): Promise<ExecOutcome> {
    return execute(this, spec);
  }

  /** Sends a request; its stream has the answer. */
  async request(op: number, payload: Buffer): Promise<GuestStream> {
    if (this.#open >= MAX_OPEN) await new Promise<void>((resolve) => this.#queue.push(resolve));
    if (this.#end) throw this.#end;

    this.#open++;
    const stream = new GuestStream(this.#nextId(), (id, sentOp, bytes) => this.#send(id, sentOp, bytes));
    this.#streams.set(stream.id, stream);
    const last = Math.max(0, Math.ceil(payload.length / MAX_PAYLOAD_BYTES) - 1) * MAX_PAYLOAD_BYTES;
    for (let at = 0; at < last; at += MAX_PAYLOAD_BYTES) {
      void this.#send(stream.id, OP.part, payload.subarray(at, at + MAX_PAYLOAD_BYTES));
    }
    void this.#send(stream.id, op, payload.subarray(last));
    return stream;
  }

  close(): void {
    this.#lose(new GuestLost('the connection to the guest was closed'));
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === MAX_STREAM_ID ? 1 : this.#lastId + 1;
    while (this.#streams.has(this.#lastId));
    return this.#lastId;
  }

  /** Writes one frame. Resolves when the channel has room again, at once if it has. */
  #send(stream: number, op: number, payload: Uint8Array): Promise<void> | undefined {
    if (this.#end) return undefined;
    this.#channel.cork();
    this.#channel.write(frameHeader(stream, op, payload.length));
    const hasRoom = payload.length === 0 || this.#channel.write(payload);
    this.#channel.uncork();
    return hasRoom ? undefined : this.#room();
  }

  #room(): Promise<void> {
    this.#drained ??= new Promise<void>((resolve) => {
      const done = () => {
        this.#drained = undefined;
        this.#channel.off('drain', done).off('close', done);
        resolve();
      };
      this.#channel.once('drain', done).once('close', done);
    });
    return this.#drained;
  }

  #read(piece: Buffer): void {
    if (this.#end) return;
    try {
      for (const frame of this.#reader.read(piece)) this.#take(frame);
    } catch (error) {
      this.#lose(error as Error);
    }
  }

  #take(frame: Frame): void {
    if (this.#onHello) return this.#takeHello(frame);

    const stream = this.#streams.get(frame.stream);
    if (!stream) throw new ProtocolError('unknown-stream', `a frame for stream ${frame.stream}, which is not open`);
    stream.take(frame);
    if (!stream.isOver) return;
    this.#streams.delete(stream.id);
    this.#open--;
    this.#queue.shift()?.();
  }

  #takeHello({ stream, op, payload }: Frame): void {
    if (op !== OP.hello || stream !== 0 || payload.length < 12)
      throw new ProtocolError('version', 'no greeting came first');
    const [version, maxFrame, window] = [0, 4, 8].map((at) => payload.readUInt32LE(at));
    if (version !== PROTOCOL_VERSION || maxFrame !== MAX_FRAME_BYTES || window !== WINDOW_BYTES) {
      throw new ProtocolError('version', `it speaks version ${version}; this is version ${PROTOCOL_VERSION}`);
    }
    this.#onHello!();
    this.#onHello = undefined;
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#end = error;
    this.#channel.destroy();
    for (const stream of this.#streams.values()) stream.lose(error);
    this.#streams.clear();
    for (const wake of this.#queue.splice(0)) wake();
    this.#resolveClosed(error);
  }
}
