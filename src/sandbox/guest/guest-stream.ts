/**
 * One request to the guest or one connection from it, from its first frame to its last, with the credit of both directions.
 *
 * Each side sends only what the other gave credit for. So what waits here for a slow reader is never more than a window,
 * and a guest that sends more has broken the protocol.
 */
import { KeptOutput, type OutputPiece, type OutputStream } from '#host';
import { FIRST_GUEST_STREAM, OP, ProtocolError, WINDOW_BYTES, type Frame } from './frames.ts';
import { GuestError } from './guest-error.ts';

/** Small enough that several are under way within one window. */
const PIECE_BYTES = 64 * 1024;

/** Pieces below this are copied. */
const SMALL_BYTES = 8 * 1024;

/** A guest that gives more than this is not counting what it takes. */
const MAX_CREDIT_BYTES = 2 ** 30;

/** Where frames go. Resolves when there is room for more. */
export type SendFrame = (stream: number, op: number, payload: Uint8Array) => Promise<void> | undefined;

export class GuestStream {
  readonly id: number;
  /** What the guest answered in the end. */
  readonly answer: Promise<Buffer>;

  readonly #send: SendFrame;
  #settle!: { resolve: (payload: Buffer) => void; reject: (error: Error) => void };
  #isOver = false;
  /** Whether the guest said that it sends no more, which only connections do before their end. */
  #hasEndedOutput = false;
  readonly #isConnection: boolean;
  #sendCredit = WINDOW_BYTES;
  #receiveCredit = WINDOW_BYTES;
  /** Taken by whoever reads, and not given back to the guest yet. */
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
    // Whoever only sends or reads learns of the end there.
    this.answer.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends input as the guest takes it. After the last frame of the guest there is nobody to take it. */
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

  /** No more input. */
  end(): void {
    if (!this.#isOver) void this.#send(this.id, OP.end, new Uint8Array());
  }

  /** Asks the guest to stop; it still answers. */
  cancel(): void {
    if (!this.#isOver) void this.#send(this.id, OP.cancel, new Uint8Array());
  }

  /** Nobody wants the rest: the guest is told, and what still comes is passed over. */
  abandon(): void {
    this.#waiting.length = 0;
    this.drop();
    this.cancel();
  }

  /** The output ends here, whatever still comes. */
  drop(): void {
    this.#isDropped = true;
    this.#wakeReader();
  }

  /** Fails whoever reads the output. */
  interrupt(error: Error): void {
    this.#interruption = error;
    this.#wakeReader();
  }

  /** Lets the guest send so much more than a window at a time. */
  widen(bytes: number): void {
    this.#receiveCredit += bytes;
    this.#give(bytes);
  }

  /** The output, as it comes, in the order of the guest. Fails when the guest does. */
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

  /** Gives the guest credit for what was taken, a good piece at a time. */
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

  /** A frame of the guest for this stream. */
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

  /** Nothing more will come. */
  lose(error: Error): void {
    if (!this.#isOver) this.#finish(() => this.#settle.reject(error));
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

  /** Small pieces are gathered: each by itself would keep alive the block that it was read into. */
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
