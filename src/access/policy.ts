/**
 * Policies by name: lists of rules, of which the last one that matches decides; a call that none matches is denied.
 *
 * The last, not the first, so that a policy reads from the general to the exception, as the lines of a .gitignore do.
 */
import { ConfigError, didYouMean, type Decision } from '#contract';
import type { ExampleConfig, RuleConfig } from './config.ts';
import { compileRule, type CallFacts, type Rule } from './rule.ts';

/** Resolves an example of a rule to a call; undefined for an unknown function. */
export type FactsOf = (functionId: string, payload: unknown) => CallFacts | undefined;

export class Policy {
  readonly name: string;
  readonly rules: readonly Rule[];

  constructor(
    name: string,
    configs: readonly RuleConfig[],
    { where = `access.policies.${name}`, factsOf }: { where?: string; factsOf?: FactsOf } = {},
  ) {
    this.name = name;
    this.rules = configs.map((config, at) => {
      const rule = compileRule(config, `${where}[${at}]`);
      if (factsOf) checkExamples(rule, config, `${where}[${at}]`, factsOf);
      return rule;
    });
  }

  decide(call: CallFacts): Decision {
    const at = this.rules.findLastIndex((rule) => rule.matches(call));
    const rule = this.rules[at];
    if (!rule) return { verdict: 'deny', rule: `${this.name}: no rule allows it` };
    const { verdict, reason, text, isForClient } = rule;
    return {
      ...{ verdict, rule: `${this.name}[${at}]: ${text}` },
      ...(reason !== undefined && { reason }),
      ...(isForClient && { isForClient }),
    };
  }
}

/** A map of policies that suggests the nearest name for an unknown one. */
export function policyNamed(name: string, policies: ReadonlyMap<string, Policy>, where: string): Policy {
  const found = policies.get(name);
  if (found) return found;
  const known = [...policies.keys()];
  throw new ConfigError(`${where}: no policy "${name}"${didYouMean(name, known)}; there is: ${known.join(', ')}`);
}

function checkExamples(rule: Rule, { match, not_match }: RuleConfig, where: string, factsOf: FactsOf): void {
  const check = (examples: readonly ExampleConfig[], key: string, isMeant: boolean) => {
    for (const [at, example] of examples.entries()) {
      const label = `${where}.${key}[${at}]`;
      const { function: id, payload = {} } = typeof example === 'string' ? { function: example } : example;
      const facts = factsOf(id, payload);
      if (!facts) throw new ConfigError(`${label}: no function "${id}"`);
      if (rule.matches(facts) === isMeant) continue;
      throw new ConfigError(`${label}: the rule ${isMeant ? 'does not match' : 'matches'} ${JSON.stringify(example)}`);
    }
  };
  check(match, 'match', true);
  check(not_match, 'not_match', false);
}
