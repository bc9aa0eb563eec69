/** Ends everything that a measurement started, also when it fails; the newest first. */
export async function holding(work) {
  const held = [];
  const hold = (part) => (held.push(part), part);
  try {
    return await work(hold);
  } finally {
    for (const part of held.toReversed()) await (part.stop?.() ?? part[Symbol.asyncDispose]());
  }
}
