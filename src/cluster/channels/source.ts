/** Sends the items of a channel here to another node, as far as that has room. */
import type { Channel } from '#engine';
import type { End, Line, State } from './end.ts';
import { MESSAGE_BYTES, RESEND_MS, WINDOW } from './limits.ts';
import { BROKEN, BYTES, END, PART, PIECE_HEAD, TEXT, type Piece } from './messages.ts';

const MAX_REASON = 512;

export class Source implements End {
  readonly isTaken: boolean;
  readonly #channel: Channel;
  readonly #line: Line;
  /** Messages that the other node has not acknowledged. */
  readonly #kept = new Map<number, Uint8Array>();
  /** Rest of an item that did not fit into its message. */
  #rest: Piece | undefined;
  #sent = 0;
  #until = 0;
  #movedAtMs = 0;
  #isEnded = false;
  #isScheduled = false;

  constructor(channel: Channel, line: Line) {
    this.#channel = channel;
    this.#line = line;
    this.isTaken = channel.takeReader({ readable: () => this.#schedule() });
  }

  get isOver(): boolean {
    return this.#isEnded && this.#kept.size === 0;
  }

  report(): State {
    return {};
  }

  takeState({ ack = 0, until = 0 }: State): void {
    if (ack > this.#sent) return;
    for (const seq of this.#kept.keys()) {
      if (seq > ack) break;
      this.#kept.delete(seq);
      this.#movedAtMs = performance.now();
    }
    this.#until = Math.max(this.#until, Math.min(until, ack + WINDOW));
    this.#send();
  }

  takeData(): void {}

  tick(nowMs: number): void {
    if (this.#kept.size === 0 || nowMs - this.#movedAtMs < RESEND_MS) return;
    this.#movedAtMs = nowMs;
    for (const message of this.#kept.values()) this.#line.publish(message);
  }

  close(): void {
    this.#isEnded = true;
    this.#kept.clear();
    this.#channel.endReading();
  }

  /** Items of one turn of the event loop share messages. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#sent < this.#until && !this.#isEnded) {
      const pieces = this.#nextPieces();
      if (pieces.length === 0) return;
      const message = this.#line.pack(++this.#sent, pieces);
      if (this.#kept.size === 0) this.#movedAtMs = performance.now();
      this.#kept.set(this.#sent, message);
      this.#line.publish(message);
    }
  }

  #nextPieces(): Piece[] {
    const pieces: Piece[] = [];
    for (let left = MESSAGE_BYTES; left > 0 && !this.#isEnded;) {
      const piece = this.#rest ?? this.#take();
      if (!piece) break;
      const isWhole = piece.bytes.length <= left || this.#isEnded;
      pieces.push(isWhole ? piece : { kind: PART, bytes: piece.bytes.subarray(0, left) });
      this.#rest = isWhole ? undefined : { kind: piece.kind, bytes: piece.bytes.subarray(left) };
      left -= PIECE_HEAD + piece.bytes.length;
    }
    return pieces;
  }

  #take(): Piece | undefined {
    const taken = this.#channel.take();
    if (taken === 'empty') return undefined;
    if (taken !== 'ended' && 'item' in taken) {
      const { item } = taken;
      return typeof item === 'string' ? { kind: TEXT, bytes: Buffer.from(item) } : { kind: BYTES, bytes: item };
    }
    this.#isEnded = true;
    this.#channel.endReading();
    return taken === 'ended'
      ? { kind: END, bytes: Buffer.alloc(0) }
      : { kind: BROKEN, bytes: Buffer.from(taken.broken.slice(0, MAX_REASON)) };
  }
}
