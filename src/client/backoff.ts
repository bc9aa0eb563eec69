/** Reconnect delay: doubles from a second to half a minute, with jitter to spread many clients. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
const JITTER = 0.3;

export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
  return base * (1 + JITTER * (2 * random() - 1));
}
