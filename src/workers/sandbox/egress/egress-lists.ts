/** The egress lists of the configuration and of a call: their syntax, and the policy they make together. */
import { z } from 'zod';

import { errors } from '../errors.ts';
import { EgressPolicy, whyBeyond, type RuleLists } from './policy.ts';
import { parseRule } from './rule.ts';
import { TargetError } from './target.ts';

const MOST_ENTRIES = 256;
const LONGEST_ENTRY = 300;

const ENTRY = 'example.com, *.example.com, example.com:8080, *:443, 10.0.0.5:5432, 10.0.0.0/8:*, host.internal:3000';

const entriesOf = (list: 'allow' | 'deny') =>
  z
    .array(z.string().max(LONGEST_ENTRY))
    .max(MOST_ENTRIES)
    .superRefine((entries, issues) => {
      entries.forEach((entry, at) => {
        const problem = problemOf(entry, list);
        if (problem === undefined) return;
        issues.addIssue({ code: 'custom', path: [at], message: `"${entry}": ${problem}; write it as one of ${ENTRY}` });
      });
    });

function problemOf(entry: string, list: 'allow' | 'deny'): string | undefined {
  try {
    parseRule(entry, list);
    return undefined;
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return error.message;
  }
}

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
    .describe(`Hosts that it may reach, within what the operator allows: ${ENTRY}. An empty list allows none.`),
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
  return new EgressPolicy(outer, inner);
}

function rulesOf({ allow, deny }: { allow: readonly string[]; deny: readonly string[] }): RuleLists {
  return {
    allow: allow.map((entry) => parseRule(entry, 'allow')),
    deny: deny.map((entry) => parseRule(entry, 'deny')),
  };
}
