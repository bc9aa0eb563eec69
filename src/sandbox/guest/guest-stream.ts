/**
 * One request to the guest or one connection from it, from its first frame to its last, with flow control in both
 * directions.
 *
 * Each side sends only within the credit of the other. So at most a window is buffered for a slow reader, and a guest
 * that sends more has broken the protocol.
 */
import { KeptOutput, type OutputPiece, type OutputStream } from '#host';
import { FIRST_GUEST_STREAM, OP, ProtocolError, WINDOW_BYTES, type Frame } from './frames.ts';
import { GuestError } from './guest-error.ts';

/** Small enough that several fit into one window. */
const PIECE_BYTES = 64 * 1024;

/** Smaller pieces are copied. */
const SMALL_BYTES = 8 * 1024;

/** A guest that gives more credit than this miscounts it. */
const MAX_CREDIT_BYTES = 2 ** 30;

/** Sends a frame. Resolves when there is room for more. */
export type SendFrame = (stream: number, op: number, payload: Uint8Array) => Promise<void> | undefined;

export class GuestStream {
  readonly id: number;
  /** The guest's final answer. */
  readonly answer: Promise<Buffer>;
  /** The pid of a followed command, once it runs; of no other request. */
  readonly started: Promise<number>;

  readonly #send: SendFrame;
  #settle!: { resolve: (payload: Buffer) => void; reject: (error: Error) => void };
  #onStarted: ((pid: number) => void) | undefined;
  #isOver = false;
  /** Whether the guest announced the end of its output, which only connections do before their end. */
  #hasEndedOutput = false;
  readonly #isConnection: boolean;
  #sendCredit = WINDOW_BYTES;
  #receiveCredit = WINDOW_BYTES;
  /** Bytes consumed by the reader, but not credited to the guest yet. */
  #consumed = 0;
  readonly #waiting: { stream: OutputStream; bytes: Buffer | KeptOutput }[] = [];
  #isDropped = false;
  #interruption: Error | undefined;
  #wakeReader = () => {};
  #wakeSender = () => {};

  constructor(id: number, send: SendFrame) {
    this.id = id;
    this.#isConnection = id >= FIRST_GUEST_STREAM;
    this.#send = send;
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.started = new Promise((resolve) => (this.#onStarted = resolve));
    // Senders and readers get the error themselves.
    this.answer.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends input as fast as the guest accepts it. Drops it after the guest's last frame. */
  async send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#isOver;) {
      if (this.#sendCredit === 0) {
        await new Promise<void>((resolve) => (this.#wakeSender = resolve));
        continue;
      }
      const piece = bytes.subarray(at, at + Math.min(PIECE_BYTES, this.#sendCredit));
      this.#sendCredit -= piece.length;
      at += piece.length;
      await this.#send(this.id, OP.data, piece);
    }
  }

  /** Ends the input. */
  end(): void {
    if (!this.#isOver) void this.#send(this.id, OP.end, new Uint8Array());
  }

  /** Asks the guest to stop; it still answers. */
  cancel(): void {
    if (!this.#isOver) void this.#send(this.id, OP.cancel, new Uint8Array());
  }

  /** Sends a frame about the command that runs on this stream. */
  post(op: number, payload: Uint8Array): void {
    if (!this.#isOver) void this.#send(this.id, op, payload);
  }

  /** Cancels the request in the guest and drops later data. */
  abandon(): void {
    this.#waiting.length = 0;
    this.drop();
    this.cancel();
  }

  /** Ends the output here and drops later data. */
  drop(): void {
    this.#isDropped = true;
    this.#wakeReader();
  }

  /** Makes the reader of the output fail. */
  interrupt(error: Error): void {
    this.#interruption = error;
    this.#wakeReader();
  }

  /** Lets the guest send this many bytes more than a window at a time. */
  widen(bytes: number): void {
    this.#receiveCredit += bytes;
    this.#give(bytes);
  }

  /** The output in the order of the guest. Throws when the guest fails. */
  async *output(): AsyncGenerator<OutputPiece> {
    for (;;) {
      if (this.#interruption) throw this.#interruption;
      const next = this.#waiting.shift();
      if (next) {
        const bytes = next.bytes instanceof KeptOutput ? next.bytes.bytes : next.bytes;
        yield { stream: next.stream, bytes };
        this.consumed(bytes.length);
      } else if (this.#hasEndedOutput || this.#isDropped) {
        return;
      } else if (this.#isOver) {
        await this.answer;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      }
    }
  }

  /** Credits the guest for consumed bytes, in large steps. */
  consumed(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed < PIECE_BYTES || this.#isOver) return;
    this.#receiveCredit += this.#consumed;
    this.#give(this.#consumed);
    this.#consumed = 0;
  }

  #give(bytes: number): void {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32LE(bytes);
    void this.#send(this.id, OP.credit, payload);
  }

  /** Handles a frame of the guest for this stream. */
  take({ op, payload }: Frame): void {
    switch (op) {
      case OP.data:
        return this.#takeOutput('stdout', payload);
      case OP.dataErr:
        if (this.#isConnection) break;
        return this.#takeOutput('stderr', payload);
      case OP.credit:
        return this.#takeCredit(payload);
      case OP.end:
        return this.#takeEnd();
      case OP.started:
        return this.#takeStart(payload);
      case OP.done:
        return this.#finish(() => this.#settle.resolve(payload));
      case OP.fail: {
        if (payload.length !== 5) throw new ProtocolError('payload', `a failure of ${payload.length} bytes`);
        const error = new GuestError(payload.readUInt32LE(0), payload[4]!);
        return this.#finish(() => this.#settle.reject(error));
      }
    }
    throw new ProtocolError('unknown-op', `operation ${op} on stream ${this.id}`);
  }

  /** Ends the stream with an error. */
  lose(error: Error): void {
    if (!this.#isOver) this.#finish(() => this.#settle.reject(error));
  }

  #takeStart(payload: Buffer): void {
    if (this.#isConnection || !this.#onStarted) throw new ProtocolError('unknown-op', `a start on stream ${this.id}`);
    if (payload.length !== 4) throw new ProtocolError('payload', `a start of ${payload.length} bytes`);
    this.#onStarted(payload.readUInt32LE(0));
    this.#onStarted = undefined;
  }

  #takeEnd(): void {
    if (!this.#isConnection || this.#hasEndedOutput)
      throw new ProtocolError('unknown-op', `an end of stream ${this.id}`);
    this.#hasEndedOutput = true;
    this.#wakeReader();
  }

  #takeOutput(output: OutputStream, piece: Buffer): void {
    if (this.#hasEndedOutput) throw new ProtocolError('unknown-op', `data after the end of stream ${this.id}`);
    this.#receiveCredit -= piece.length;
    if (this.#receiveCredit < 0) {
      throw new ProtocolError('credit', `stream ${this.id} got ${-this.#receiveCredit} bytes more than it may`);
    }
    if (this.#isDropped) this.consumed(piece.length);
    else this.#keep(output, piece);
    this.#wakeReader();
  }

  /** Small pieces are merged: each alone would keep its whole receive buffer alive. */
  #keep(stream: OutputStream, piece: Buffer): void {
    if (piece.length >= SMALL_BYTES) {
      this.#waiting.push({ stream, bytes: piece });
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.stream === stream && last.bytes instanceof KeptOutput && last.bytes.length < PIECE_BYTES) {
      return last.bytes.add(piece);
    }
    const bytes = new KeptOutput();
    bytes.add(piece);
    this.#waiting.push({ stream, bytes });
  }

  #takeCredit(payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolError('payload', `credit of ${payload.length} bytes`);
    this.#sendCredit += payload.readUInt32LE(0);
    if (this.#sendCredit > MAX_CREDIT_BYTES) throw new ProtocolError('credit', `${this.#sendCredit} bytes of credit`);
    this.#wakeSender();
  }

  #finish(settle: () => void): void {
    this.#isOver = true;
    settle();
    this.#wakeReader();
    this.#wakeSender();
  }
}
