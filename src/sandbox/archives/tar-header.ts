/**
 * One 512-byte header block of a tar archive, in the formats v7, ustar, pax and GNU.
 *
 * Text stays bytes (one char each): names in an image need not be UTF-8.
 */
import type { ByteString } from '#host';
import { ArchiveError } from './archive-error.ts';

export const BLOCK_BYTES = 512;

/** `metadata` describes the entry after it; `other` is a type that images do not use. */
export type TarType = 'file' | 'link' | 'symlink' | 'device' | 'directory' | 'fifo' | 'metadata' | 'other';

export interface TarHeader {
  readonly name: ByteString;
  readonly type: TarType;
  /** The type byte as a character, for messages and metadata. */
  readonly flag: string;
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeSecs: number;
  readonly linkName: ByteString;
}

const TYPES: Readonly<Record<string, TarType>> = {
  '\0': 'file',
  '0': 'file',
  '1': 'link',
  '2': 'symlink',
  '3': 'device',
  '4': 'device',
  '5': 'directory',
  '6': 'fifo',
  '7': 'file',
  g: 'metadata',
  x: 'metadata',
  K: 'metadata',
  L: 'metadata',
};

const CHECKSUM = { from: 148, to: 156 };

/** Undefined for a block of zeros, which ends an archive. */
export function parseTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (checksumOf(block) !== Number.parseInt(textAt(block, CHECKSUM.from, 8), 8)) {
    throw new ArchiveError('a tar header has a wrong checksum: the archive is damaged or not a tar');
  }

  const name = textAt(block, 0, 100);
  const flag = String.fromCharCode(block[156] ?? 0);
  // GNU tar writes the magic with a blank and keeps other fields where ustar has the prefix.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textAt(block, 345, 155) : '';
  const isOldDirectory = flag === '\0' && name.endsWith('/');
  return {
    name: (prefix === '' ? name : `${prefix}/${name}`) as ByteString,
    type: isOldDirectory ? 'directory' : (TYPES[flag] ?? 'other'),
    flag,
    size: numberAt(block, 124, 12),
    mode: numberAt(block, 100, 8),
    uid: numberAt(block, 108, 8),
    gid: numberAt(block, 116, 8),
    mtimeSecs: numberAt(block, 136, 12),
    linkName: textAt(block, 157, 100),
  };
}

function checksumOf(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK_BYTES; at++) {
    const isChecksum = at >= CHECKSUM.from && at < CHECKSUM.to;
    sum += isChecksum ? 0x20 : (block[at] ?? 0);
  }
  return sum;
}

function textAt(block: Buffer, from: number, length: number): ByteString {
  const end = block.indexOf(0, from);
  const to = end < 0 || end > from + length ? from + length : end;
  return block.toString('latin1', from, to) as ByteString;
}

/** Octal text, or big-endian bytes when the first bit is set. */
function numberAt(block: Buffer, from: number, length: number): number {
  const first = block[from] ?? 0;
  if ((first & 0x80) === 0) return octal(textAt(block, from, length));

  const isNegative = (first & 0x40) !== 0;
  let value = isNegative ? -1n : 0n;
  for (let at = from; at < from + length; at++) {
    // The first bit only marks the form, so it is read as a copy of the sign.
    const byte = at === from && !isNegative ? first & 0x7f : (block[at] ?? 0);
    value = (value << 8n) | BigInt(byte);
  }
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new ArchiveError('a tar header holds a number that is too large');
  return number;
}

function octal(text: string): number {
  const digits = text.trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw new ArchiveError(`a tar header holds "${digits}" where a number belongs`);
  return Number.parseInt(digits, 8);
}
