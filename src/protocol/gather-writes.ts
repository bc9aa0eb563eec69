/**
 * Joins the writes to a stream in one turn of the event loop.
 *
 * A chunk from the network often holds many messages; a system call for each answer costs more than everything
 * else about it. The returned function is called before a write.
 */
export function gatherWrites(stream: { cork(): void; uncork(): void }): () => void {
  let isGathering = false;
  const flush = () => {
    isGathering = false;
    stream.uncork();
  };
  return () => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    process.nextTick(flush);
  };
}
