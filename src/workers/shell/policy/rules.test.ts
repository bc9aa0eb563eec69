import { describe, expect, test } from 'vitest';

import { ConfigError } from '#contract';
import type { RuleConfig } from '../config.ts';
import { compileRules, objectionTo } from './rules.ts';

const rule = (given: Partial<RuleConfig>): RuleConfig => ({
  program: 'git',
  decision: 'deny',
  reason: 'no',
  match: [],
  not_match: [],
  ...given,
});
const fits = (args: string[] | undefined, given: string[]) =>
  objectionTo(['git', ...given], compileRules([rule({ args })])) !== undefined;

describe('a list of patterns', () => {
  test.each<[string, string[] | undefined, string[], boolean]>([
    ['left out fits no arguments', undefined, [], true],
    ['left out fits any arguments', undefined, ['a', 'b'], true],
    ['that is empty fits no arguments', [], [], true],
    ['that is empty fits nothing else', [], ['a'], false],
    ['fits argument by argument', ['push', 'origin|fork'], ['push', 'fork'], true],
    ['fits no fewer', ['push', 'origin'], ['push'], false],
    ['fits no more', ['push'], ['push', 'origin'], false],
    ['fits whole arguments', ['push'], ['pushed'], false],
    ['fits whole alternatives', ['a|b'], ['ax'], false],
    ['does not take a space for a border', ['push', 'origin'], ['push origin'], false],
    ['matches past line ends only if it says so', ['a.*'], ['a\nb'], false],
    ['with ... fits nothing in its place', ['push', '...'], ['push'], true],
    ['with ... fits anything in its place', ['push', '...'], ['push', 'a', 'b'], true],
    ['between two ... fits anywhere', ['...', '-(exec|ok)', '...'], ['.', '-exec', 'rm'], true],
    ['between two ... fits at the end', ['...', '-(exec|ok)', '...'], ['.', '-ok'], true],
    ['between two ... has to be there', ['...', '-(exec|ok)', '...'], ['.', '-name', '-execute'], false],
    ['tries every way', ['...', 'a', '...', 'b'], ['a', 'a', 'b', 'a', 'b'], true],
    ['that spells out three dots fits them', [String.raw`\.{3}`], ['...'], true],
    ['that spells out three dots fits nothing else', [String.raw`\.{3}`], ['a'], false],
  ])('%s', (_, args, given, expected) => {
    expect(fits(args, given)).toBe(expected);
  });
});

describe('a command', () => {
  const rules = compileRules([
    rule({ decision: 'allow', args: ['log|status', '...'], reason: 'reading history' }),
    rule({ decision: 'allow', args: ['fetch'], reason: 'a plain fetch' }),
    rule({ args: ['...', '--output=.*', '...'], reason: 'it writes files' }),
  ]);

  test.each([
    ['that an allow rule fits runs', 'git log -p', undefined],
    [
      'of a program with allow rules that none fits is refused, with what is allowed',
      'git push',
      "command 'git' refused by rules; allowed are only: reading history; a plain fetch",
    ],
    [
      'that a deny rule fits is refused, whatever allows it',
      'git log --output=x',
      "command 'git' refused by rule: it writes files",
    ],
    [
      'is known by the last name of its path',
      '/usr/bin/git push',
      "command 'git' refused by rules; allowed are only: reading history; a plain fetch",
    ],
    ['of a program without rules runs', 'ls push', undefined],
  ])('%s', (_, line, objection) => {
    expect(objectionTo(line.split(' '), rules)).toBe(objection);
  });
});

describe('at the start', () => {
  const good = rule({
    args: ['...', '--force', '...'],
    match: ['git push --force', ['git', 'push', '--force', 'a b']],
    not_match: ['git push', 'git push "--force x"', 'hg --force'],
  });

  test('examples that hold are accepted', () => {
    expect(compileRules([good])).toHaveLength(1);
  });

  test.each<[string, Partial<RuleConfig>, string]>([
    [
      'an example that the rule does not fit',
      { match: ['git push'] },
      'shell.rules[1].match[0]: the rule does not fit "git push"',
    ],
    [
      'a counterexample that it fits',
      { not_match: ['git', ['git', '--force']] },
      'shell.rules[1].not_match[1]: the rule fits ["git","--force"]',
    ],
    ['an example that is not a command line', { match: ['git "'] }, 'shell.rules[1].match[0]: missing closing quote'],
    [
      'a pattern that does not compile',
      { args: ['ok', '(?=x)'] },
      'shell.rules[1].args[1]: regex "(?=x)": look-around',
    ],
  ])('shell.P3 %s is a refusal that names its place', (_, wrong, message) => {
    const make = () => compileRules([good, { ...good, match: [], not_match: [], ...wrong }]);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(message);
  });
});
