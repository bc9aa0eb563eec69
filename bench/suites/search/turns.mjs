/** How long the longest turn of the event loop takes while something runs. */
export async function longestTurnMs(work) {
  let [since, longest, isOver] = [performance.now(), 0, false];
  const endTurn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - since);
    since = now;
    if (!isOver) setImmediate(endTurn);
  };
  setImmediate(endTurn);
  await work();
  endTurn();
  isOver = true;
  return longest;
}
