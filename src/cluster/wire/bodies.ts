/**
 * Bodies that are too large for one message: announced with a key, and fetched by the receiver in pieces.
 *
 * The receiver sets the pace, so that no buffer of a server fills. A key is random and only fetched from its sender.
 */
import { randomBytes } from 'node:crypto';

import { z } from 'zod';

import {
  BODIES_AT_ONCE,
  MAX_BODY_BYTES,
  MAX_OUTBOX_BYTES,
  OUTBOX_MS,
  PIECE_BYTES,
  PIECE_TIMEOUT_MS,
  PIECES_AT_ONCE,
} from '../limits.ts';
import { readAs, toBytes } from './json.ts';
import type { Message, Wire } from './nats.ts';
import type { Address, Subjects } from './subjects.ts';

/** A first byte that no JSON text has. */
const MARK = 0x01;
const MAX_REF_BYTES = 1_024;

const BodyRefSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{32}$/),
  bytes: z.int().min(0).max(MAX_BODY_BYTES),
  /** The call that the frame belongs to; absent for blocks. */
  call: z.string().min(1).max(512).optional(),
});
export type BodyRef = z.output<typeof BodyRefSchema>;
const PieceSchema = z.object({ key: z.string(), at: z.int().min(0) });

interface Announced {
  readonly bytes: Uint8Array;
  readonly to: string;
  readonly call: string | undefined;
  readonly timer: NodeJS.Timeout;
}

export class Bodies {
  readonly #wire: Wire;
  readonly #subjects: Subjects;
  readonly #outbox = new Map<string, Announced>();
  #outboxBytes = 0;
  #fetching = 0;
  readonly #queue: (() => void)[] = [];

  constructor(wire: Wire, subjects: Subjects) {
    this.#wire = wire;
    this.#subjects = subjects;
  }

  /** Announced frames of calls that wait to be fetched. */
  get waitingFrames(): number {
    let count = 0;
    for (const { call } of this.#outbox.values()) if (call !== undefined) count++;
    return count;
  }

  /** Announces the bytes to one node, a frame of a call again by its key; undefined when too much waits to be fetched. */
  announce(bytes: Uint8Array, to: Address, call?: string): Uint8Array | undefined {
    const key = this.#keyOf(bytes, to, call) ?? this.#put(bytes, to, call);
    if (key === undefined) return undefined;
    return Buffer.concat([Buffer.of(MARK), toBytes({ key, bytes: bytes.length, call } satisfies BodyRef)]);
  }

  /** Answers a request for a piece; empty when the key is unknown or belongs to another node. */
  give(message: Message, from: Address): void {
    const asked = readAs(PieceSchema, message.data, MAX_REF_BYTES);
    const kept = asked && this.#outbox.get(asked.key);
    if (!kept || kept.to !== from.id) return message.respond();
    const end = asked.at + PIECE_BYTES;
    message.respond(kept.bytes.subarray(asked.at, end));
    if (end >= kept.bytes.length) this.#drop(asked.key);
  }

  /** Fetches an announced body. */
  async fetch(from: Address, { key, bytes }: BodyRef): Promise<Uint8Array> {
    if (this.#fetching >= BODIES_AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#fetching++;
    try {
      return await this.#fetchPieces(from, key, bytes);
    } finally {
      this.#fetching--;
      this.#queue.shift()?.();
    }
  }

  async #fetchPieces(from: Address, key: string, bytes: number): Promise<Uint8Array> {
    const whole = Buffer.allocUnsafe(bytes);
    const subject = this.#subjects.toNode('piece', from);
    const last = Math.max(0, Math.ceil(bytes / PIECE_BYTES) - 1) * PIECE_BYTES;
    const take = async (at: number) => {
      const piece = await this.#wire.request(subject, toBytes({ key, at }), PIECE_TIMEOUT_MS);
      if (piece.length !== Math.min(PIECE_BYTES, bytes - at)) throw new Error('the body is no longer kept');
      whole.set(piece, at);
    };
    let next = 0;
    const lane = async () => {
      while (next < last) {
        const at = next;
        next += PIECE_BYTES;
        await take(at);
      }
    };
    await Promise.all(Array.from({ length: PIECES_AT_ONCE }, lane));
    // The sender drops the body with its last piece.
    await take(last);
    return whole;
  }

  /** The key of a frame that still waits: a receiver that is fetching it may ask for it again meanwhile. */
  #keyOf(bytes: Uint8Array, to: Address, call: string | undefined): string | undefined {
    if (call === undefined) return undefined;
    for (const [key, waiting] of this.#outbox) {
      if (waiting.call !== call || waiting.to !== to.id || waiting.bytes !== bytes) continue;
      waiting.timer.refresh();
      return key;
    }
    return undefined;
  }

  #put(bytes: Uint8Array, to: Address, call: string | undefined): string | undefined {
    if (this.#outboxBytes + bytes.length > MAX_OUTBOX_BYTES) return undefined;
    const key = randomBytes(16).toString('hex');
    const timer = setTimeout(() => this.#drop(key), OUTBOX_MS).unref();
    this.#outbox.set(key, { bytes, to: to.id, call, timer });
    this.#outboxBytes += bytes.length;
    return key;
  }

  #drop(key: string): void {
    const kept = this.#outbox.get(key);
    if (!kept) return;
    clearTimeout(kept.timer);
    this.#outbox.delete(key);
    this.#outboxBytes -= kept.bytes.length;
  }
}

/** The announcement in a message, if it is one. */
export function bodyRefIn(data: Uint8Array): BodyRef | undefined {
  return data[0] === MARK ? readAs(BodyRefSchema, data.subarray(1), MAX_REF_BYTES) : undefined;
}
