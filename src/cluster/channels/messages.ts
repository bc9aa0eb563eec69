/**
 * Messages of a channel between nodes: numbered data of the stream one way, its state as JSON the other.
 *
 * Data has a byte 1, the id of the stream, a number, and pieces. A piece has a byte for its kind, four for its
 * length, and its bytes. Items are cut where a message is full, so that all messages are small.
 */
import { z } from 'zod';

import { MESSAGE_BYTES } from './limits.ts';

const text = z.string().max(512);

/** Length of the random id of a stream. */
export const ID_BYTES = 8;
export const MAX_CONTROL_BYTES = 8 * 1024;

export const ControlSchema = z.object({
  /** A random id from the node that uses an end of the other one. */
  stream: z.string().regex(/^[0-9a-f]{16}$/),
  /** The end that is used; `w` puts into the channel, `r` takes from it. Repeated while the stream lasts. */
  open: z.object({ id: text, key: text, dir: z.enum(['w', 'r']) }).optional(),
  /** All data up to this number has arrived. */
  ack: z.int().min(0).optional(),
  /** Data up to this number may be sent. */
  until: z.int().min(0).optional(),
  /** The channel, or its other end, is not there. */
  gone: z.boolean().optional(),
});
export type Control = z.output<typeof ControlSchema>;

/** The kind of a piece. An item ends with `BYTES` or `TEXT`; `PART` has more to come. */
export const BYTES = 0;
export const TEXT = 1;
export const PART = 2;
export const END = 3;
/** Kind of an item that carries the reason as its bytes. */
export const BROKEN = 4;

export interface Piece {
  kind: number;
  bytes: Uint8Array;
}

export interface Data {
  stream: string;
  seq: number;
  pieces: readonly Piece[];
}

/** A first byte that no JSON text has. */
const MARK = 0x01;
const MAX_DATA_BYTES = 2 * MESSAGE_BYTES;
const SEQ_BYTES = 6;
const SEQ_AT = 1 + ID_BYTES;
const HEAD = SEQ_AT + SEQ_BYTES;
export const PIECE_HEAD = 5;

export function isData(message: Uint8Array): boolean {
  return message[0] === MARK;
}

export function pack({ stream, seq, pieces }: Data): Uint8Array {
  const head = Buffer.alloc(HEAD);
  head[0] = MARK;
  head.write(stream, 1, 'hex');
  head.writeUIntBE(seq, SEQ_AT, SEQ_BYTES);
  const parts: Uint8Array[] = [head];
  for (const { kind, bytes } of pieces) {
    const pieceHead = Buffer.alloc(PIECE_HEAD);
    pieceHead[0] = kind;
    pieceHead.writeUInt32BE(bytes.length, 1);
    parts.push(pieceHead, bytes);
  }
  return Buffer.concat(parts);
}

/** Undefined when it is not such a message. The pieces share its memory. */
export function unpack(message: Uint8Array): Data | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < HEAD || bytes.length > MAX_DATA_BYTES) return undefined;
  const pieces: Piece[] = [];
  for (let at = HEAD; at < bytes.length;) {
    if (at + PIECE_HEAD > bytes.length) return undefined;
    const end = at + PIECE_HEAD + bytes.readUInt32BE(at + 1);
    const kind = bytes[at]!;
    if (end > bytes.length || kind > BROKEN) return undefined;
    pieces.push({ kind, bytes: bytes.subarray(at + PIECE_HEAD, end) });
    at = end;
  }
  return { stream: bytes.toString('hex', 1, SEQ_AT), seq: bytes.readUIntBE(SEQ_AT, SEQ_BYTES), pieces };
}
