/**
 * The difference that an edit made, small enough for the log: applied to the before-image it returns the new content.
 *
 * Undo needs the new content as the merge base when another program has changed the file since.
 */
import { isUtf8 } from 'node:buffer';

import type { Delta } from './records.ts';

const MAX_BYTES = 8192;

/** Sizes of the blocks that are compared, largest first: comparing memory is faster than comparing thousands of bytes. */
const STEPS = [65_536, 4096, 256];

/** Undefined if the changed middle is over the limit or is not UTF-8. */
export function deltaOf(before: Uint8Array, after: Uint8Array): Delta | undefined {
  // The length alone shows that the middle is over the limit.
  if (after.length > before.length + MAX_BYTES) return undefined;
  const [old, now] = [bufferOf(before), bufferOf(after)];
  const shorter = Math.min(old.length, now.length);
  const head = commonHead(old, now, shorter);
  const tail = commonTail(old, now, shorter - head);
  const middle = now.subarray(head, now.length - tail);
  if (middle.length > MAX_BYTES || !isUtf8(middle)) return undefined;
  return { head, tail, text: middle.toString() };
}

export function applyDelta(before: Uint8Array, { head, tail, text }: Delta): Buffer {
  return Buffer.concat([before.subarray(0, head), Buffer.from(text), before.subarray(before.length - tail)]);
}

function commonHead(a: Buffer, b: Buffer, most: number): number {
  let at = 0;
  for (const step of STEPS) {
    while (at + step <= most && a.compare(b, at, at + step, at, at + step) === 0) at += step;
  }
  while (at < most && a[at] === b[at]) at++;
  return at;
}

function commonTail(a: Buffer, b: Buffer, most: number): number {
  let count = 0;
  const isEqual = (step: number) => {
    const [endA, endB] = [a.length - count, b.length - count];
    return a.compare(b, endB - step, endB, endA - step, endA) === 0;
  };
  for (const step of STEPS) {
    while (count + step <= most && isEqual(step)) count += step;
  }
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count++;
  return count;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
