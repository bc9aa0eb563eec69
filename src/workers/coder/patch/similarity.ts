/** Similarity of two lines in linear time: the share of the longer line that is common prefix or suffix. */

/** Characters compared: lines of megabytes exist. */
const MAX_CHARS = 1000;

export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const [one, other] = [a.slice(0, MAX_CHARS), b.slice(0, MAX_CHARS)];
  const shorter = Math.min(one.length, other.length);
  const head = commonHead(one, other, shorter);
  return (head + commonTail(one, other, shorter - head)) / Math.max(one.length, other.length, 1);
}

export function commonHead(a: string, b: string, most: number): number {
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function commonTail(a: string, b: string, most: number): number {
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
