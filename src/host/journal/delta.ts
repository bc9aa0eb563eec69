/**
 * The difference that an edit made, small enough for the log: applied to the before-image it returns the new content.
 *
 * Undo needs the new content as the merge base when another program has changed the file since.
 */
import { isUtf8 } from 'node:buffer';

import type { Delta } from './records.ts';

const MAX_BYTES = 8192;
const STEP_BYTES = 1024;

/** Undefined if the changed middle is over the limit or is not UTF-8. */
export function deltaOf(before: Uint8Array, after: Uint8Array): Delta | undefined {
  // The length alone shows that the middle is over the limit.
  if (after.length > before.length + MAX_BYTES) return undefined;
  const head = commonHead(before, after);
  const tail = Math.min(commonTail(before, after), Math.min(before.length, after.length) - head);
  const middle = after.subarray(head, after.length - tail);
  if (middle.length > MAX_BYTES || !isUtf8(middle)) return undefined;
  return { head, tail, text: Buffer.from(middle).toString() };
}

export function applyDelta(before: Uint8Array, { head, tail, text }: Delta): Buffer {
  return Buffer.concat([before.subarray(0, head), Buffer.from(text), before.subarray(before.length - tail)]);
}

function commonHead(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  // Blocks first: one memory comparison is faster than a thousand byte comparisons.
  while (at + STEP_BYTES <= length && isEqual(a, b, at, at, STEP_BYTES)) at += STEP_BYTES;
  while (at < length && a[at] === b[at]) at++;
  return at;
}

function commonTail(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let count = 0;
  while (
    count + STEP_BYTES <= length &&
    isEqual(a, b, a.length - count - STEP_BYTES, b.length - count - STEP_BYTES, STEP_BYTES)
  ) {
    count += STEP_BYTES;
  }
  while (count < length && a[a.length - 1 - count] === b[b.length - 1 - count]) count++;
  return count;
}

function isEqual(a: Uint8Array, b: Uint8Array, inA: number, inB: number, length: number): boolean {
  return Buffer.compare(a.subarray(inA, inA + length), b.subarray(inB, inB + length)) === 0;
}
