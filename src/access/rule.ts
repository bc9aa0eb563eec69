/**
 * One rule: its conditions, and whether a matching call is allowed, asked about or denied.
 *
 * A rule about paths or programs errs on the safe side. To allow, every path of the call has to match and the program has
 * to equal the rule's text; to ask or deny, one path is enough, a program also matches by its last name, and a
 * path or program that the payload does not show counts as matching.
 */
import { basename } from 'node:path';

import type { Verdict } from '#contract';
import type { MatcherConfig, RuleConfig } from './config.ts';
import { compilePathGlobs } from './path-globs.ts';
import { UNKNOWN, type CallSubject } from './subject.ts';

/** A call as rules see it. */
export interface CallFacts extends CallSubject {
  readonly id: string;
  /** Every name of the namespace. */
  readonly namespaces: readonly string[];
  /** Absent: the function declares none, and may do anything. */
  readonly effect?: string | undefined;
  /** Absent: the function declares none. */
  readonly permissions?: readonly string[] | undefined;
  readonly risk?: string | undefined;
}

export interface Rule {
  readonly verdict: Verdict;
  readonly reason?: string | undefined;
  /** Whether the client that made an asked call may ask its own person. */
  readonly isForClient: boolean;
  /** The rule as the operator wrote it, for explanations. */
  readonly text: string;
  matches(call: CallFacts): boolean;
}

const VERDICTS = ['allow', 'ask', 'deny'] as const;

export function compileRule(config: RuleConfig, where: string): Rule {
  const verdict = VERDICTS.find((key) => config[key] !== undefined)!;
  const matcher = config[verdict]!;
  const parts = compileMatcher(matcher, verdict, `${where}.${verdict}`);
  return {
    verdict,
    reason: config.reason,
    isForClient: config.by === 'client',
    text: `${verdict} ${spell(matcher)}`,
    matches: (call) => parts.every((part) => part(call)),
  };
}

type Part = (call: CallFacts) => boolean;

function compileMatcher(matcher: MatcherConfig, verdict: Verdict, where: string): Part[] {
  const parts: Part[] = [];
  const allows = verdict === 'allow';
  const add = <Key extends keyof MatcherConfig>(key: Key, make: (values: string[]) => Part) => {
    const given = matcher[key];
    if (given !== undefined) parts.push(make([given].flat()));
  };
  add('function', (globs) => matching(globs, ({ id }) => [id]));
  add('namespace', (globs) => matching(globs, ({ namespaces }) => namespaces));
  add(
    'effect',
    (effects) =>
      ({ effect }) =>
        effect === undefined ? !allows : effects.includes(effect),
  );
  add(
    'risk',
    (risks) =>
      ({ risk }) =>
        risk === undefined ? false : risks.includes(risk),
  );
  add('permission', (globs) => permissionPart(globs, allows));
  add('paths', (globs) => pathsPart(globs, allows, where));
  add('program', (globs) => programPart(globs, allows));
  return parts;
}

/** To allow, the rule has to cover every permission that the function needs. */
function permissionPart(globs: string[], allows: boolean): Part {
  const fits = textMatcher(globs);
  return ({ permissions }) => {
    if (permissions === undefined) return !allows;
    if (!allows) return permissions.some(fits);
    return permissions.length > 0 && permissions.every(fits);
  };
}

function pathsPart(globs: string[], allows: boolean, where: string): Part {
  const { covers, touches } = compilePathGlobs(globs, `${where}.paths`);
  return ({ paths }) => {
    if (paths === undefined) return false;
    if (paths === UNKNOWN) return !allows;
    return allows ? paths.every(covers) : paths.some(touches);
  };
}

function programPart(globs: string[], allows: boolean): Part {
  const fits = textMatcher(globs);
  return ({ program }) => {
    if (program === undefined) return false;
    if (program === UNKNOWN) return !allows;
    return fits(program) || (!allows && fits(basename(program)));
  };
}

function matching(globs: string[], textsOf: (call: CallFacts) => readonly string[]): Part {
  const fits = textMatcher(globs);
  return (call) => textsOf(call).some(fits);
}

/** `*` is any text; nothing else is special. Ids and names hold no `/`, so path globs would be the wrong tool. */
function textMatcher(globs: readonly string[]): (text: string) => boolean {
  const pieces = globs.map((glob) => glob.split('*'));
  return (text) => pieces.some((parts) => fitsPieces(parts, text));
}

function fitsPieces([first = '', ...rest]: readonly string[], text: string): boolean {
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const last = rest.at(-1)!;
  let at = first.length;
  for (const piece of rest.slice(0, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function spell(matcher: MatcherConfig): string {
  const parts = Object.entries(matcher).map(([key, value]) => `${key} ${[value].flat().join('|')}`);
  return parts.length === 0 ? 'everything' : parts.join(', ');
}
