/**
 * What the signatures of a text must have for a query to be in it.
 *
 * Nothing can be said of needles shorter than three bytes, nor where characters of the text may be something else
 * than their bytes.
 */
import { isAscii } from 'node:buffer';

import { requiredLiterals, type Regex } from '../regex/index.ts';
import { MAX_SIGNED_NEEDLE, SIGNATURE_BYTES, type Arena } from './index-arena.ts';
import type { IndexedFile } from './index-tree.ts';
import type { Query } from './query.ts';
import { TEXT_START } from './text-memory.ts';

const MIN_NEEDLE = 3;
const MAX_NEEDLES = 16;

/** Behind the needles of the matchers. */
const SIGNATURES_ADDRESS = TEXT_START - MAX_NEEDLES * SIGNATURE_BYTES;
const BYTES_ADDRESS = SIGNATURES_ADDRESS - MAX_SIGNED_NEEDLE - 64;

const REPLACEMENT = Buffer.from('\uFFFD');

/** Whether a file may match; undefined when that cannot be known of any. */
export function signatureFilter(
  query: Query,
  regex: Regex | undefined,
  arena: Arena,
): ((file: IndexedFile) => boolean) | undefined {
  const needles = needlesOf(query, regex);
  const isUsable = needles && needles.length <= MAX_NEEDLES && needles.every((bytes) => bytes.length >= MIN_NEEDLE);
  if (!isUsable || needles.some((bytes) => bytes.includes(REPLACEMENT))) return undefined;

  const wanted = needles.map((bytes, i) => {
    const address = SIGNATURES_ADDRESS + i * SIGNATURE_BYTES;
    const signed = bytes.subarray(0, MAX_SIGNED_NEEDLE);
    arena.memory.buffer.set(signed, BYTES_ADDRESS);
    arena.sign(BYTES_ADDRESS, signed.length, address);
    return address;
  });
  return (file) =>
    (query.ignoreCase && file.hasCaseStrangers === true) || wanted.some((address) => arena.mayHold(file, address));
}

function needlesOf({ pattern, ignoreCase }: Query, regex: Regex | undefined): Buffer[] | undefined {
  if (regex) return requiredLiterals(regex)?.map((bytes) => Buffer.from(bytes));
  const bytes = Buffer.from(ignoreCase ? pattern.toLowerCase() : pattern);
  return ignoreCase && !isAscii(bytes) ? undefined : [bytes];
}
