/**
 * The host's end of the channel to one guest: many requests at once over one byte stream.
 *
 * Every frame of the guest is untrusted. The first one that breaks a rule ends the connection, and all waiting calls
 * fail at once with the same reason.
 */
import type { Duplex } from 'node:stream';

import { Execution, type ExecutionResult } from '#host';
import { GuestProcess, type GuestCommand } from './guest-process.ts';
import {
  FIRST_GUEST_STREAM,
  frameHeader,
  FrameReader,
  MAX_CONNECTIONS,
  MAX_FRAME_BYTES,
  MAX_PAYLOAD_BYTES,
  OLDEST_VERSION,
  OP,
  PROTOCOL_VERSION,
  ProtocolError,
  WINDOW_BYTES,
  type Frame,
} from './frames.ts';
import { GuestConnection } from './guest-connection.ts';
import { GuestLost } from './guest-error.ts';
import { GuestStream } from './guest-stream.ts';
import { RequestBytes } from './request-bytes.ts';

/** A command that is run to its end. */
export interface ExecSpec extends Omit<GuestCommand, 'hasInput' | 'isFollowed' | 'terminal'> {
  stdin?: Uint8Array;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Fewer than the agent has room for; further requests are queued here. */
const MAX_OPEN = 100;

/**
 * Most connections that this side has not released yet. A guest that opens and ends them faster is refused new ones.
 */
const MAX_KEPT_CONNECTIONS = 4 * MAX_CONNECTIONS;

/** Most bytes queued for a guest that opens connections and does not read. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20;

export class AgentClient {
  /** Resolves with the reason when the connection ends. */
  readonly closed: Promise<Error>;

  readonly #channel: Duplex;
  readonly #reader = new FrameReader();
  readonly #streams = new Map<number, GuestStream>();
  /** Requests that wait for an open one to end. */
  readonly #queue = new Set<() => void>();
  #open = 0;
  #lastId = 0;
  readonly #listeners = new Map<number, (connection: GuestConnection) => void>();
  /** Connections that the guest has not ended. */
  #openConnections = 0;
  /** Connections alive on this side, including those that the guest ended. */
  #keptConnections = 0;
  #end: Error | undefined;
  #resolveClosed!: (error: Error) => void;
  #onHello: (() => void) | undefined;
  #version = PROTOCOL_VERSION;
  #drained: Promise<void> | undefined;

  private constructor(channel: Duplex) {
    this.#channel = channel;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    channel.on('data', (piece: Buffer) => this.#read(piece));
    channel.on('error', (error) => this.#lose(new GuestLost('the guest is gone', { cause: error })));
    channel.on('close', () => this.#lose(new GuestLost('the guest is gone')));
    channel.on('end', () => this.#lose(new GuestLost('the guest is gone')));
  }

  /** Greets the guest and waits for its answer. */
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

  /** Version of the protocol that the agent speaks. */
  get version(): number {
    return this.#version;
  }

  /** Runs one command to its end. Rejects with a `GuestError` when it cannot be started, and when the caller aborts. */
  async exec({ stdin, timeoutMs, signal, ...command }: ExecSpec): Promise<ExecutionResult> {
    signal.throwIfAborted();
    const process = await this.start({ ...command, hasInput: stdin !== undefined }, { signal });
    const { maxOutputBytes } = command;
    const result = await new Execution(process, { stdin, maxOutputBytes, timeoutMs, signal }).done;
    signal.throwIfAborted();
    return result;
  }

  /** Starts one command; an aborted signal removes it from the queue. */
  async start(command: GuestCommand, { signal }: { signal: AbortSignal }): Promise<GuestProcess> {
    return GuestProcess.start(this, command, signal);
  }

  /** Sends a request and returns its stream. An aborted signal removes it from the queue. */
  async request(op: number, payload: Buffer, { signal }: { signal?: AbortSignal } = {}): Promise<GuestStream> {
    if (this.#open < MAX_OPEN) this.#open++;
    else await this.#turn(signal);
    if (this.#end) throw this.#end;

    const stream = this.#openStream(this.#nextId());
    const last = Math.max(0, Math.ceil(payload.length / MAX_PAYLOAD_BYTES) - 1) * MAX_PAYLOAD_BYTES;
    for (let at = 0; at < last; at += MAX_PAYLOAD_BYTES) {
      void this.#send(stream.id, OP.part, payload.subarray(at, at + MAX_PAYLOAD_BYTES));
    }
    void this.#send(stream.id, op, payload.subarray(last));
    return stream;
  }

  /** Listens on a port of the guest's loopback, once; `onConnection` receives every connection to it. */
  async listen(port: number, onConnection: (connection: GuestConnection) => void): Promise<void> {
    this.#listeners.set(port, onConnection);
    const { answer } = await this.request(OP.listen, new RequestBytes().u16(port).bytes());
    await answer;
  }

  close(): void {
    this.#lose(new GuestLost('the connection to the guest was closed'));
  }

  /** Waits for a slot; a slot that becomes free goes to the request that has waited longest. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#queue.delete(wake);
        reject(signal!.reason as Error);
      };
      if (signal?.aborted) return leave();
      signal?.addEventListener('abort', leave, { once: true });
      this.#queue.add(wake);
    });
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === FIRST_GUEST_STREAM - 1 ? 1 : this.#lastId + 1;
    while (this.#streams.has(this.#lastId));
    return this.#lastId;
  }

  #openStream(id: number): GuestStream {
    const stream = new GuestStream(id, (to, op, bytes) => this.#send(to, op, bytes));
    this.#streams.set(id, stream);
    return stream;
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
    if (!stream && frame.op === OP.open && frame.stream >= FIRST_GUEST_STREAM) return this.#connect(frame);
    if (!stream) throw new ProtocolError('unknown-stream', `a frame for stream ${frame.stream}, which is not open`);
    stream.take(frame);
    if (!stream.isOver) return;
    this.#streams.delete(stream.id);
    if (stream.id >= FIRST_GUEST_STREAM) {
      this.#openConnections--;
      return;
    }
    const [next] = this.#queue;
    if (!next) this.#open--;
    else if (this.#queue.delete(next)) next();
  }

  #connect({ stream: id, payload }: Frame): void {
    const onConnection = payload.length === 2 ? this.#listeners.get(payload.readUInt16LE()) : undefined;
    if (!onConnection) throw new ProtocolError('payload', 'a connection to a port without a listener');
    if (this.#openConnections === MAX_CONNECTIONS) {
      throw new ProtocolError('connections', `more than ${MAX_CONNECTIONS} connections at once`);
    }
    if (this.#channel.writableLength > MAX_UNREAD_BYTES) throw new ProtocolError('connections', 'it does not read');

    this.#openConnections++;
    const stream = this.#openStream(id);
    if (this.#keptConnections === MAX_KEPT_CONNECTIONS) return stream.abandon();
    this.#keptConnections++;
    const connection = new GuestConnection(stream, (op) => void this.#send(id, op, new Uint8Array()));
    connection.once('close', () => this.#keptConnections--);
    onConnection(connection);
  }

  #takeHello({ stream, op, payload }: Frame): void {
    if (op !== OP.hello || stream !== 0 || payload.length < 12)
      throw new ProtocolError('version', 'no greeting came first');
    const [version, maxFrame, window] = [0, 4, 8].map((at) => payload.readUInt32LE(at));
    const isKnown = version! >= OLDEST_VERSION && version! <= PROTOCOL_VERSION;
    if (!isKnown || maxFrame !== MAX_FRAME_BYTES || window !== WINDOW_BYTES) {
      throw new ProtocolError(
        'version',
        `it speaks version ${version}; this server speaks ${OLDEST_VERSION} to ${PROTOCOL_VERSION}`,
      );
    }
    this.#version = version!;
    this.#onHello!();
    this.#onHello = undefined;
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#end = error;
    this.#channel.destroy();
    for (const stream of this.#streams.values()) stream.lose(error);
    this.#streams.clear();
    for (const wake of this.#queue) wake();
    this.#queue.clear();
    this.#resolveClosed(error);
  }
}
