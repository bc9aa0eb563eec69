/** Puts messages of another node into a channel here, in order, and grants credit. */
import type { Channel } from '#engine';
import type { End, Line, State } from './end.ts';
import { GRANT, MAX_ITEM_BYTES, WINDOW } from './limits.ts';
import { BROKEN, END, PART, TEXT, type Piece } from './messages.ts';

export class Sink implements End {
  readonly isTaken: boolean;
  isOver = false;
  readonly #channel: Channel;
  readonly #line: Line;
  /** The error of its reader when the stream has no end. */
  readonly #broken: string;
  #applied = 0;
  #acked = 0;
  #until = 0;
  #isFull = false;
  /** The beginning of an item whose rest is still to come. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;

  constructor(channel: Channel, line: Line, broken: string) {
    this.#channel = channel;
    this.#line = line;
    this.#broken = broken;
    this.isTaken = channel.takeWriter({
      resume: () => {
        this.#isFull = false;
        this.#grant();
      },
      readerGone: () => this.#leave(),
    });
  }

  report(): State {
    this.#acked = this.#applied;
    if (!this.#isFull) this.#until = this.#applied + WINDOW;
    return { ack: this.#acked, until: this.#until };
  }

  takeState(): void {}

  takeData(seq: number, pieces: readonly Piece[]): void {
    if (this.isOver) return;
    // One that came before, or after one that was lost: the source resends messages that are not acknowledged.
    if (seq !== this.#applied + 1 || seq > this.#until) return this.#line.send(this.report());
    this.#applied = seq;
    for (const piece of pieces) this.#put(piece);
    if (!this.isOver) this.#grant();
  }

  tick(): void {
    if (this.#acked < this.#applied) this.#line.send(this.report());
  }

  close(): void {
    this.isOver = true;
    this.#parts = [];
    this.#channel.endWriting(this.#broken);
  }

  #grant(): void {
    if (!this.#isFull && this.#applied + WINDOW - this.#until >= GRANT) this.#line.send(this.report());
  }

  #put({ kind, bytes }: Piece): void {
    if (this.isOver) return;
    if (kind === END || kind === BROKEN) return this.#end(kind === END ? undefined : Buffer.from(bytes).toString());
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
    if (this.#partBytes > MAX_ITEM_BYTES) return this.#leave();
    if (kind === PART) return;
    // A copy: the memory is shared with other messages.
    const item = Buffer.concat(this.#parts, this.#partBytes);
    this.#parts = [];
    this.#partBytes = 0;
    if (this.#channel.push(kind === TEXT ? item.toString() : item) === 'wait') this.#isFull = true;
  }

  #end(broken: string | undefined): void {
    this.isOver = true;
    this.#channel.endWriting(broken);
    this.#line.send(this.report());
  }

  #leave(): void {
    if (this.isOver) return;
    this.close();
    this.#line.send({ gone: true });
  }
}
