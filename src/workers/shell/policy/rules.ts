/**
 * Rules for the arguments of an allowed program, matched on the final argv.
 *
 * Rules only narrow. A command that a deny rule matches is refused; a program with allow rules may only be called with
 * arguments that one of them matches. Arguments are matched one by one, never joined: a space in an argument does not
 * separate.
 */
import { basename } from 'node:path';

import { ConfigError } from '#contract';
import { compileRegex, RegexError, splitWords, WordsError, type Regex } from '#host';
import type { RuleConfig } from '../config.ts';

/** Any number of arguments. */
const REST = '...';

type ArgPattern = Regex | typeof REST;

interface Rule {
  program: string;
  /** Undefined matches any arguments. */
  args?: ArgPattern[];
  decision: RuleConfig['decision'];
  reason: string;
}

/** Refuses to start for an invalid pattern, or for an example that the rule does not treat as stated. */
export function compileRules(configs: readonly RuleConfig[]): Rule[] {
  return configs.map((config, index) => {
    const where = `shell.rules[${index}]`;
    const rule: Rule = {
      ...config,
      args: config.args?.map((pattern, at) => compileArg(pattern, `${where}.args[${at}]`)),
    };
    checkExamples(rule, config, where);
    return rule;
  });
}

/** Why the rules refuse a command; undefined when they do not. */
export function objectionTo(argv: readonly string[], rules: readonly Rule[]): string | undefined {
  const program = basename(argv[0]!);
  const own = rules.filter((rule) => rule.program === program);
  const denial = own.find((rule) => rule.decision === 'deny' && fits(rule, argv));
  if (denial) return `command '${program}' refused by rule: ${denial.reason}`;

  const allowing = own.filter(({ decision }) => decision === 'allow');
  if (allowing.length === 0 || allowing.some((rule) => fits(rule, argv))) return undefined;
  return `command '${program}' refused by rules; allowed are only: ${allowing.map(({ reason }) => reason).join('; ')}`;
}

function compileArg(pattern: string, where: string): ArgPattern {
  if (pattern === REST) return REST;
  try {
    // Compiled alone first, so that an error has the position in the operator's text.
    compileRegex(pattern);
    return compileRegex(String.raw`\A(?:${pattern})\z`);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new ConfigError(`${where}: ${error.message}`, { cause: error });
  }
}

function checkExamples(rule: Rule, { match, not_match }: RuleConfig, where: string): void {
  const check = (key: 'match' | 'not_match', examples: RuleConfig['match'], isMeant: boolean) => {
    for (const [at, example] of examples.entries()) {
      const label = `${where}.${key}[${at}]`;
      if (fits(rule, wordsOf(example, label)) === isMeant) continue;
      throw new ConfigError(`${label}: the rule ${isMeant ? 'does not fit' : 'fits'} ${JSON.stringify(example)}`);
    }
  };
  check('match', match, true);
  check('not_match', not_match, false);
}

function wordsOf(example: string | string[], label: string): string[] {
  if (typeof example !== 'string') return example;
  try {
    return splitWords(example);
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    throw new ConfigError(`${label}: ${error.message}`, { cause: error });
  }
}

function fits({ program, args }: Rule, [first = '', ...given]: readonly string[]): boolean {
  return basename(first) === program && (args === undefined || fitsArgs(args, given));
}

function fitsArgs(patterns: readonly ArgPattern[], args: readonly string[]): boolean {
  // How many patterns the arguments so far may have consumed.
  let positions = skipRests(patterns, [0]);
  for (const arg of args) {
    const bytes = Buffer.from(arg);
    const next = [...positions].flatMap((position) => {
      const pattern = patterns[position];
      if (pattern === REST) return [position];
      return pattern?.isMatch(bytes) ? [position + 1] : [];
    });
    positions = skipRests(patterns, next);
  }
  return positions.has(patterns.length);
}

/** The positions themselves and those after each `...`, which may match nothing. */
function skipRests(patterns: readonly ArgPattern[], from: readonly number[]): Set<number> {
  const positions = new Set(from);
  for (const position of positions) if (patterns[position] === REST) positions.add(position + 1);
  return positions;
}
