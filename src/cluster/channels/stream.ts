/** A stream between this node and another one, for one end of a channel. The node that uses a far end opens it. */
import { toBytes } from '../wire/json.ts';
import type { End, Line } from './end.ts';
import { ASK_MS, IDLE_MS, PATIENCE_MS, RESEND_MS } from './limits.ts';
import { pack, type Control, type Piece } from './messages.ts';

interface StreamParts {
  id: string;
  publish: (message: Uint8Array) => void;
  /** Request that opened the stream, on the side that opened it. */
  open?: Control['open'];
}

export class Stream implements Line {
  readonly #parts: StreamParts;
  readonly #end: End;
  #heardAtMs = performance.now();
  #askedAtMs = 0;
  #isAnswered = false;

  constructor(parts: StreamParts, endOf: (line: Line) => End) {
    this.#parts = parts;
    this.#end = endOf(this);
    this.#ask(this.#heardAtMs);
  }

  get isTaken(): boolean {
    return this.#end.isTaken;
  }

  get isOver(): boolean {
    return this.#end.isOver;
  }

  pack(seq: number, pieces: readonly Piece[]): Uint8Array {
    return pack({ stream: this.#parts.id, seq, pieces });
  }

  publish(message: Uint8Array): void {
    this.#parts.publish(message);
  }

  send(control: Omit<Control, 'stream'>): void {
    this.#parts.publish(toBytes({ stream: this.#parts.id, ...control } satisfies Control));
  }

  takeControl({ open, gone, ...state }: Control): void {
    this.#heard();
    if (gone) return this.#end.close();
    this.#end.takeState(state);
    if (open) this.send(this.#end.report());
  }

  takeData(seq: number, pieces: readonly Piece[]): void {
    this.#heard();
    this.#end.takeData(seq, pieces);
  }

  tick(nowMs: number): void {
    if (this.isOver) return;
    if (nowMs - this.#heardAtMs > (this.#parts.open ? PATIENCE_MS : IDLE_MS)) return this.close();
    if (nowMs - this.#askedAtMs >= (this.#isAnswered ? ASK_MS : RESEND_MS)) this.#ask(nowMs);
    this.#end.tick(nowMs);
  }

  close(): void {
    this.#end.close();
  }

  #ask(nowMs: number): void {
    const { open } = this.#parts;
    if (!open) return;
    this.#askedAtMs = nowMs;
    this.send({ open, ...this.#end.report() });
  }

  #heard(): void {
    this.#heardAtMs = performance.now();
    this.#isAnswered = true;
  }
}
