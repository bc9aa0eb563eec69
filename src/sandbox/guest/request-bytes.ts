/** Encodes the payload of a request: little-endian numbers, NUL-terminated texts. */
import { GuestError } from './guest-error.ts';

/** An owner or a mode that stays unchanged. */
export const UNSAID = 0xffff_ffff;

const EINVAL = 22;
const PATH = 0;

export class RequestBytes {
  readonly #pieces: Buffer[] = [];

  u8(value: number | boolean): this {
    this.#pieces.push(Buffer.of(Number(value)));
    return this;
  }

  u16(value: number): this {
    const piece = Buffer.allocUnsafe(2);
    piece.writeUInt16LE(value);
    this.#pieces.push(piece);
    return this;
  }

  u32(value: number): this {
    const piece = Buffer.allocUnsafe(4);
    piece.writeUInt32LE(value);
    this.#pieces.push(piece);
    return this;
  }

  u64(value: number | bigint): this {
    const piece = Buffer.allocUnsafe(8);
    piece.writeBigUInt64LE(BigInt(value));
    this.#pieces.push(piece);
    return this;
  }

  /** Refuses a text with a NUL in it. */
  text(text: string): this {
    if (text.includes('\0')) throw new GuestError(EINVAL, PATH);
    this.#pieces.push(Buffer.from(`${text}\0`));
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
