/**
 * Tests a time limit on a machine that may be busy: tries again with a longer one until what had to happen before the
 * limit has happened. An idle machine waits for the first only.
 */
export async function withEnoughTime<T>(
  limitsMs: readonly [number, ...number[]],
  attempt: (limitMs: number) => Promise<T>,
  hasHappened: (outcome: T) => boolean,
): Promise<T> {
  const [limitMs, ...longer] = limitsMs;
  const outcome = await attempt(limitMs);
  if (hasHappened(outcome)) return outcome;
  const [next, ...rest] = longer;
  return next === undefined ? outcome : withEnoughTime([next, ...rest], attempt, hasHappened);
}
