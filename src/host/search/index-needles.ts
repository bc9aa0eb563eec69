/**
 * What a text must hold for a query to match in it, as far as signatures can tell.
 *
 * Nothing can be said of needles shorter than three bytes, nor where characters of the text may be something else
 * than their bytes.
 */
import { isAscii } from 'node:buffer';

import { requiredLiterals, type Regex } from '../regex/index.ts';
import { MAX_SIGNED_NEEDLE } from './index-signatures.ts';
import type { Query } from './query.ts';

const MIN_NEEDLE = 3;
const MAX_NEEDLES = 16;

const REPLACEMENT = Buffer.from('\uFFFD');

/** At least one of these is in every text that matches; undefined when that cannot be said. */
export function signedNeedles(query: Query, regex: Regex | undefined): Buffer[] | undefined {
  const needles = needlesOf(query, regex);
  if (!needles || needles.length > MAX_NEEDLES) return undefined;
  if (needles.some((bytes) => bytes.length < MIN_NEEDLE || bytes.includes(REPLACEMENT))) return undefined;
  return needles.map((bytes) => bytes.subarray(0, MAX_SIGNED_NEEDLE));
}

function needlesOf({ pattern, ignoreCase }: Query, regex: Regex | undefined): Buffer[] | undefined {
  if (regex) return requiredLiterals(regex)?.map((bytes) => Buffer.from(bytes));
  const bytes = Buffer.from(ignoreCase ? pattern.toLowerCase() : pattern);
  return ignoreCase && !isAscii(bytes) ? undefined : [bytes];
}
