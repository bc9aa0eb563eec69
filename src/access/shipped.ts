/** Policies that need no configuration; a policy of the same name in a configuration replaces one. */
import type { RuleConfig } from './config.ts';

const rule = (given: Pick<RuleConfig, 'allow' | 'ask' | 'deny' | 'reason'>): RuleConfig => ({
  match: [],
  not_match: [],
  ...given,
});

const everything = [rule({ allow: {} })];
const reading = [rule({ allow: { effect: 'read' } })];

export const SHIPPED_POLICIES: Readonly<Record<string, readonly RuleConfig[]>> = {
  'read-only': reading,
  look: reading,
  coding: everything,
  open: everything,
  iii: everything,
};
