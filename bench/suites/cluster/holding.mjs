/** Ends everything that a measurement started, also when it fails; the newest first. */
export async function holding(work) {
  const parts = [];
  const hold = (part) => (parts.push(part), part);
  try {
    return await work(hold);
  } finally {
    for (const part of parts.toReversed()) await (part.stop?.() ?? part[Symbol.asyncDispose]());
  }
}
