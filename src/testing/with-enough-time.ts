/**
 * Tests a time limit on a machine that may be busy: retries with a longer limit until the expected event comes before
 * it. An idle machine needs only the first attempt.
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
