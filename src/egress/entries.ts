/** The syntax of egress lists, in a configuration and in a call. */
import { z } from 'zod';

import type { RuleLists } from './policy.ts';
import { parseRule } from './rule.ts';
import { TargetError } from './target.ts';

const MOST_ENTRIES = 256;
const LONGEST_ENTRY = 300;

export const ENTRY_FORMS =
  'example.com, *.example.com, example.com:8080, *:443, 10.0.0.5:5432, 10.0.0.0/8:*, host.internal:3000';

export const entriesOf = (list: 'allow' | 'deny') =>
  z
    .array(z.string().max(LONGEST_ENTRY))
    .max(MOST_ENTRIES)
    .superRefine((entries, issues) => {
      entries.forEach((entry, at) => {
        const problem = problemOf(entry, list);
        if (problem === undefined) return;
        const message = `"${entry}": ${problem}; write it as one of ${ENTRY_FORMS}`;
        issues.addIssue({ code: 'custom', path: [at], message });
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

export function rulesOf({ allow, deny }: { allow: readonly string[]; deny: readonly string[] }): RuleLists {
  return {
    allow: allow.map((entry) => parseRule(entry, 'allow')),
    deny: deny.map((entry) => parseRule(entry, 'deny')),
  };
}
