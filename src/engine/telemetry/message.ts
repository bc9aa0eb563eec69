/**
 * Puts the messages of one telemetry socket together from pieces of its frames, to send them on.
 *
 * All sockets share the room: a message for which there is none, or that is too large, is dropped as it comes.
 */
export interface Room {
  left: number;
  readonly maxMessageBytes: number;
}

const MASK_BYTES = 4;
const EMPTY = Buffer.alloc(0);

export class Message {
  readonly #room: Room;
  readonly #forward: (message: Buffer) => void;
  #buffer: Buffer = EMPTY;
  #bytes = 0;
  #isDropped = false;
  #mask: Buffer = Buffer.alloc(MASK_BYTES);
  #maskedAt = 0;

  constructor(room: Room, forward: (message: Buffer) => void) {
    this.#room = room;
    this.#forward = forward;
  }

  /** Begins a frame with this mask, of the same message or of the next. */
  begin(mask: Buffer, isSame: boolean): void {
    if (!isSame) this.clear();
    this.#mask = mask;
    this.#maskedAt = 0;
  }

  add(masked: Buffer): void {
    if (this.#isDropped) return;
    const { left, maxMessageBytes } = this.#room;
    if (masked.length > left || this.#bytes + masked.length > maxMessageBytes) {
      this.clear();
      this.#isDropped = true;
      return;
    }
    const end = this.#bytes + masked.length;
    // Doubles each time: a peer that sends byte by byte must not cost a copy for each.
    if (end > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], Math.min(end * 2, maxMessageBytes));
    for (let at = 0; at < masked.length; at++) {
      this.#buffer[this.#bytes + at] = masked[at]! ^ this.#mask[(this.#maskedAt + at) % MASK_BYTES]!;
    }
    this.#room.left -= masked.length;
    this.#bytes = end;
    this.#maskedAt += masked.length;
  }

  /** The last frame of the message ended. */
  end(): void {
    const message = this.#isDropped ? undefined : this.#buffer.subarray(0, this.#bytes);
    this.clear();
    if (message) this.#forward(message);
  }

  clear(): void {
    this.#room.left += this.#bytes;
    this.#buffer = EMPTY;
    this.#bytes = 0;
    this.#isDropped = false;
  }
}
