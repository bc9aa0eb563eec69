/**
 * Encodes and parses the frames between host and guest. See docs/design/guest-protocol.md.
 *
 * Guest data is untrusted: a length is accepted only within bounds, and only the one incomplete frame is buffered.
 */

import { GuestLost } from './guest-error.ts';

/** The length (which excludes itself), the stream and the operation. */
const HEADER_BYTES = 9;
export const MAX_FRAME_BYTES = 256 * 1024;
export const MAX_PAYLOAD_BYTES = MAX_FRAME_BYTES - HEADER_BYTES;

/** Most bytes either side may send on a stream before the other gives credit. */
export const WINDOW_BYTES = 256 * 1024;
export const PROTOCOL_VERSION = 2;
/** Oldest version of an agent that is accepted; requests that it lacks are refused by `AgentTooOld`. */
export const OLDEST_VERSION = 1;

/** Stream ids from here on are opened by the guest. */
export const FIRST_GUEST_STREAM = 0x8000_0000;
/** Most connections at once. */
export const MAX_CONNECTIONS = 128;

export const OP = {
  hello: 1,
  part: 2,
  data: 3,
  end: 4,
  credit: 5,
  cancel: 6,
  done: 7,
  fail: 8,
  dataErr: 9,
  open: 10,
  started: 11,
  exec: 16,
  list: 32,
  stat: 33,
  read: 34,
  write: 35,
  mkdir: 36,
  remove: 37,
  chmod: 38,
  rename: 39,
  walk: 40,
  readMany: 41,
  seed: 48,
  clock: 49,
  hostname: 50,
  listen: 51,
  resize: 52,
  signal: 53,
} as const;

export interface Frame {
  stream: number;
  op: number;
  payload: Buffer;
}

/** The protocol rule that the guest broke. */
export type Breach =
  | 'frame-length'
  | 'unknown-stream'
  | 'unknown-op'
  | 'credit'
  | 'payload'
  | 'version'
  | 'connections';

export class ProtocolError extends GuestLost {
  override readonly name = 'ProtocolError';
  readonly breach: Breach;

  constructor(breach: Breach, details: string) {
    super(`the guest broke the protocol (${breach}): ${details}`);
    this.breach = breach;
  }
}

export function frameHeader(stream: number, op: number, payloadBytes: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(payloadBytes + HEADER_BYTES - 4, 0);
  header.writeUInt32LE(stream, 4);
  header[8] = op;
  return header;
}

export class FrameReader {
  /** The incomplete frame; its size is known once `#filled` reaches the length. */
  #frame: Buffer | undefined;
  #filled = 0;
  readonly #length = Buffer.alloc(4);
  #lengthFilled = 0;

  /** The frames that this piece completes. */
  *read(piece: Buffer): Generator<Frame> {
    let at = 0;
    while (at < piece.length) {
      if (!this.#frame) {
        const whole = this.#lengthFilled === 0 ? wholeFrame(piece, at) : undefined;
        if (whole) {
          at += whole.length + 4;
          yield toFrame(whole);
          continue;
        }
        at = this.#readLength(piece, at);
        continue;
      }
      const copied = piece.copy(this.#frame, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < this.#frame.length) return;
      const frame = toFrame(this.#frame);
      this.#frame = undefined;
      yield frame;
    }
  }

  #readLength(piece: Buffer, at: number): number {
    const copied = piece.copy(this.#length, this.#lengthFilled, at, at + 4 - this.#lengthFilled);
    this.#lengthFilled += copied;
    if (this.#lengthFilled === 4) {
      this.#frame = Buffer.allocUnsafe(checkedLength(this.#length.readUInt32LE(0)));
      this.#filled = 0;
      this.#lengthFilled = 0;
    }
    return at + copied;
  }
}

/** The bytes after the length, if all of them are there. */
function wholeFrame(piece: Buffer, at: number): Buffer | undefined {
  if (piece.length - at < HEADER_BYTES) return undefined;
  const end = at + 4 + checkedLength(piece.readUInt32LE(at));
  return end <= piece.length ? piece.subarray(at + 4, end) : undefined;
}

function checkedLength(length: number): number {
  if (length >= HEADER_BYTES - 4 && length <= MAX_FRAME_BYTES - 4) return length;
  throw new ProtocolError('frame-length', `a frame says it has ${length} bytes`);
}

function toFrame(body: Buffer): Frame {
  return { stream: body.readUInt32LE(0), op: body[4]!, payload: body.subarray(5) };
}
