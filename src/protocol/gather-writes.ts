/**
 * Joins the writes to a stream in one turn of the event loop, a few at a time.
 *
 * A chunk from the network often holds many messages; a system call for each answer costs more than everything
 * else about it. Yet the peer should work on the first answers while the rest is made: when all travel together, only
 * one process of a call is busy at a time. The returned function is called before a write.
 */
export const MAX_GATHERED = 8;

export function gatherWrites(stream: { cork(): void; uncork(): void }): () => void {
  /** Writes since the last flush; 0 when none is to come. */
  let gathered = 0;
  const flush = () => {
    gathered = 0;
    stream.uncork();
  };
  return () => {
    gathered += 1;
    if (gathered === 1) {
      stream.cork();
      process.nextTick(flush);
    } else if (gathered > MAX_GATHERED) {
      gathered = 1;
      stream.uncork();
      stream.cork();
    }
  };
}
