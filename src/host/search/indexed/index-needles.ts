/**
 * Byte strings that a text must contain for a query to match, as far as signatures can decide it.
 *
 * None for needles shorter than three bytes, nor where characters of the text may differ from their bytes.
 */
import { isAscii } from 'node:buffer';

import { requiredLiterals, type CharSet, type Regex } from '../../regex/index.ts';
import { MAX_SIGNED_NEEDLE } from './index-signatures.ts';
import type { Query } from '../query.ts';

const MIN_NEEDLE = 3;
const MAX_NEEDLES = 16;

const REPLACEMENT = Buffer.from('\uFFFD');

/** Every matching text contains at least one needle of each set; undefined when no such set is known. */
export function signedNeedles(query: Query, regex: Regex | undefined): Buffer[][] | undefined {
  const sets = regex ? [requiredLiterals(regex), ...textsOf(regex)] : [literalOf(query)];
  const signed = sets.map((set) => set?.map((bytes) => Buffer.from(bytes))).filter((set) => set && isSigned(set));
  if (signed.length === 0) return undefined;
  return signed.map((set) => set!.map((bytes) => bytes.subarray(0, MAX_SIGNED_NEEDLE)));
}

function isSigned(set: readonly Buffer[]): boolean {
  const isSignable = (bytes: Buffer) => bytes.length >= MIN_NEEDLE && !bytes.includes(REPLACEMENT);
  return set.length > 0 && set.length <= MAX_NEEDLES && set.every(isSignable);
}

function literalOf({ pattern, ignoreCase }: Query): Buffer[] | undefined {
  const bytes = Buffer.from(ignoreCase ? pattern.toLowerCase() : pattern);
  return ignoreCase && !isAscii(bytes) ? undefined : [bytes];
}

/** Runs in which each character is known but for its case, which signatures ignore. */
function textsOf(regex: Regex): Buffer[][] {
  return regex.runs.flatMap((run) => {
    const texts = run.map(charOf).join('').split(UNKNOWN);
    return texts.filter((text) => text.length >= MIN_NEEDLE).map((text) => [Buffer.from(text)]);
  });
}

// Stands for a position with several possible characters: not ASCII, so it occurs in no run.
const UNKNOWN = '\uFFFF';

function charOf(set: CharSet): string {
  const chars = Array.from(set.keys()).filter((char) => set[char]);
  const folded = new Set(chars.map((char) => String.fromCharCode(char).toLowerCase()));
  return folded.size === 1 ? [...folded][0]! : UNKNOWN;
}
