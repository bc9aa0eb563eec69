/** The egress lists of the configuration and of a call, and the policy that results from both. */
import { z } from 'zod';

import { EgressPolicy, entriesOf, ENTRY_FORMS, rulesOf, whyBeyond } from '#egress';
import { errors } from '../errors.ts';

/** The most that any sandbox may reach. */
export const EgressCeiling = z.strictObject({
  allow: entriesOf('allow')
    .default(['*:80', '*:443'])
    .describe('Hosts that sandboxes with a network may reach. An empty list allows none.'),
  deny: entriesOf('deny').default([]).describe('Hosts that they may not reach; overrides allow.'),
  ca_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'PEM certificates of an authority that programs in sandboxes with a network trust beside the usual ones.',
    ),
});

/** A call's request within the ceiling. */
export const EgressRequest = z.object({
  allow: entriesOf('allow')
    .nullish()
    .describe(`Hosts that it may reach, within what the operator allows: ${ENTRY_FORMS}. An empty list allows none.`),
  deny: entriesOf('deny').nullish().describe('Hosts that it may not reach.'),
});

export function policyOf(
  ceiling: z.output<typeof EgressCeiling>,
  wanted: z.output<typeof EgressRequest> | undefined,
): EgressPolicy {
  const outer = rulesOf(ceiling);
  if (!wanted) return new EgressPolicy(outer);

  const inner = rulesOf({ allow: wanted.allow ?? ceiling.allow, deny: wanted.deny ?? [] });
  const within = inner.allow.filter((rule) => whyBeyond(rule, outer) === undefined);
  const beyond = wanted.allow ? inner.allow.find((rule) => !within.includes(rule)) : undefined;
  if (beyond) {
    const allow = within.map(({ entry }) => entry);
    throw errors.fail('S400', {
      problem: `egress.allow has ${beyond.entry}; ${whyBeyond(beyond, outer)}`,
      fix: { egress: { ...wanted, allow } },
    });
  }
  return new EgressPolicy(outer, { wanted: inner });
}
