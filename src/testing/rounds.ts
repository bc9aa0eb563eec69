/** How often a test repeats a race. Only this file reads which tier runs. */
const TIERS = ['quick', 'full', 'soak'] as const;
type Tier = (typeof TIERS)[number];

/** Set by scripts/check.mjs and scripts/soak.mjs; a plain `npx vitest` is quick. */
const tier = (process.env.WORKCELL_TEST_TIER ?? 'quick') as Tier;
if (!TIERS.includes(tier)) throw new Error(`WORKCELL_TEST_TIER is ${tier}; it may be ${TIERS.join(', ')}`);

/** Whether this run also covers the cases of `npm run test:full`. */
export const isFull = tier !== 'quick';

/** A count for each tier: `npm test` (a smoke test), `npm run test:full` and `npm run soak` (hours). */
export function rounds(quick: number, full: number, soak: number): number {
  return { quick, full, soak }[tier];
}
