/**
 * Ends of channels of this node that another node uses.
 *
 * Requests may come twice and out of order: batches are numbered, puts are applied in their order, and taken batches
 * are kept until the other node has them.
 */
import type { Channel } from '#engine';
import type { ChannelItem } from '#protocol';
import { pack, type RequestHead } from './batch.ts';
import { BATCH_BYTES, HOLD_MS, WINDOW } from './limits.ts';

export type Respond = (data: Uint8Array) => void;

/** Why a stream has less than its writer wanted to send. */
const BROKE_OFF = 'the writer of this channel broke off (its node is gone)';

export interface OwnedEnd {
  usedAtMs: number;
  take(head: RequestHead, items: readonly ChannelItem[], respond: Respond): void;
  /** The other node is gone. */
  close(): void;
}

/** Undefined when the end was taken before. */
export function ownedEnd(channel: Channel, dir: RequestHead['dir']): OwnedEnd | undefined {
  const end = dir === 'w' ? new OwnedWriter(channel) : new OwnedReader(channel);
  return end.isTaken ? end : undefined;
}

class OwnedWriter implements OwnedEnd {
  readonly isTaken: boolean;
  usedAtMs = performance.now();
  readonly #channel: Channel;
  readonly #early = new Map<number, { head: RequestHead; items: readonly ChannelItem[] }>();
  #applied = 0;
  #isFull = false;
  #isGone = false;
  #waiting: (() => void)[] = [];

  constructor(channel: Channel) {
    this.#channel = channel;
    this.isTaken = channel.takeWriter({
      resume: () => this.#wake({ isFull: false }),
      readerGone: () => {
        this.#isGone = true;
        channel.endWriting();
        this.#wake({ isFull: false });
      },
    });
  }

  take(head: RequestHead, items: readonly ChannelItem[], respond: Respond): void {
    this.usedAtMs = performance.now();
    const { seq } = head;
    if (!head.poll && seq > this.#applied && seq <= this.#applied + WINDOW) this.#early.set(seq, { head, items });
    this.#apply();
    const answer = () => {
      if (this.#isGone) respond(pack({ gone: true }));
      else respond(pack(seq > this.#applied || this.#isFull ? { again: true } : {}));
    };
    if (this.#isGone || (seq <= this.#applied && !this.#isFull)) return answer();
    const timer = setTimeout(answer, HOLD_MS).unref();
    this.#waiting.push(() => {
      clearTimeout(timer);
      answer();
    });
  }

  close(): void {
    this.#channel.endWriting(BROKE_OFF);
    this.#wake({ isFull: false });
  }

  #apply(): void {
    for (let next = this.#early.get(this.#applied + 1); next; next = this.#early.get(this.#applied + 1)) {
      this.#early.delete(++this.#applied);
      for (const item of next.items) {
        if (!this.#isGone && this.#channel.push(item) === 'wait') this.#isFull = true;
      }
      if (next.head.broken !== undefined) this.#channel.endWriting(next.head.broken);
      else if (next.head.end) this.#channel.endWriting();
    }
  }

  #wake({ isFull }: { isFull: boolean }): void {
    this.#isFull = isFull;
    for (const answer of this.#waiting.splice(0)) answer();
  }
}

class OwnedReader implements OwnedEnd {
  readonly isTaken: boolean;
  usedAtMs = performance.now();
  readonly #channel: Channel;
  /** Batches that were sent and not acknowledged. */
  readonly #kept = new Map<number, Uint8Array>();
  readonly #asked = new Map<number, { respond: Respond; timer: NodeJS.Timeout }>();
  #next = 1;
  #isOver = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.isTaken = channel.takeReader({ readable: () => this.#give() });
  }

  take({ seq, ack = 0, cancel }: RequestHead, _: readonly ChannelItem[], respond: Respond): void {
    this.usedAtMs = performance.now();
    if (cancel) {
      this.close();
      return respond(pack({ gone: true }));
    }
    for (const sent of this.#kept.keys()) if (sent <= ack) this.#kept.delete(sent);
    const kept = this.#kept.get(seq);
    if (kept) return respond(kept);
    // A number that was acknowledged, or one far ahead, is not a request of an honest node.
    if (seq < this.#next || seq >= this.#next + WINDOW || this.#isOver) return respond(pack({ gone: true }));
    clearTimeout(this.#asked.get(seq)?.timer);
    const timer = setTimeout(() => {
      this.#asked.delete(seq);
      respond(pack({ again: true }));
    }, HOLD_MS).unref();
    this.#asked.set(seq, { respond, timer });
    this.#give();
  }

  close(): void {
    this.#channel.endReading();
    this.#isOver = true;
  }

  #give(): void {
    for (let asked = this.#asked.get(this.#next); asked && !this.#isOver; asked = this.#asked.get(this.#next)) {
      const batch = this.#batch();
      if (!batch) return;
      clearTimeout(asked.timer);
      this.#asked.delete(this.#next);
      this.#kept.set(this.#next++, batch);
      asked.respond(batch);
    }
  }

  /** Undefined while there is nothing to take. */
  #batch(): Uint8Array | undefined {
    const items: ChannelItem[] = [];
    for (let bytes = 0; bytes < BATCH_BYTES;) {
      const taken = this.#channel.take();
      if (taken === 'empty') break;
      if (taken === 'ended' || 'broken' in taken) {
        this.#isOver = true;
        this.#channel.endReading();
        return pack(taken === 'ended' ? { end: true } : { broken: taken.broken }, items);
      }
      items.push(taken.item);
      bytes += taken.item.length;
    }
    return items.length > 0 ? pack({}, items) : undefined;
  }
}
