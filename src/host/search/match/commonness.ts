/**
 * How rare bytes are in ordinary text and source, in bits: a byte at one of 2 ** n positions has n.
 *
 * Only precise enough to choose a byte to search for: a space and an e are everywhere, a q and a capital hardly anywhere.
 */
import type { CharSet } from '../../regex/index.ts';

const COMMON_LAST = 'zqxjkvbpygfwmucldrhsnioate';

/**
 * Share of each kind of character in a text. Letters are ranked: each is more frequent than the one before by the same
 * factor, up to e.
 */
const SHARE = {
  blank: 0.16,
  rarestLetter: 0.0012,
  growth: 1.176,
  digit: 0.006,
  capital: 0.003,
  other: 0.0025,
} as const;

const SHARES = Float64Array.from({ length: 256 }, (_, byte) => shareOf(byte));

export const BITS = SHARES.map((share) => -Math.log2(share));

export function bitsOfText(bytes: Uint8Array): number {
  return bytes.reduce((bits, byte) => bits + BITS[byte]!, 0);
}

/** Bits of a position where one of several characters is allowed. */
export function bitsOfSet(set: CharSet): number {
  const share = set.reduce((sum, isMember, char) => sum + isMember * SHARES[char]!, 0);
  return Math.max(-Math.log2(share), 0);
}

function shareOf(byte: number): number {
  const char = String.fromCharCode(byte);
  if (char === ' ' || char === '\n') return SHARE.blank;
  if (char >= 'a' && char <= 'z') return SHARE.rarestLetter * SHARE.growth ** COMMON_LAST.indexOf(char);
  if (char >= '0' && char <= '9') return SHARE.digit;
  return char >= 'A' && char <= 'Z' ? SHARE.capital : SHARE.other;
}
