/**
 * One line of a .gitignore file as a predicate on paths, following gitignore(5).
 *
 * Names are matched by a scan that backtracks only to the last star, so no pattern takes longer than its length times
 * that of the name.
 */

export interface IgnoreRule {
  /** Whether it re-includes entries that earlier rules exclude. */
  readonly isNegated: boolean;
  readonly isForDirs: boolean;
  /** `names`: a path relative to the directory of the .gitignore file. */
  matches(names: readonly string[]): boolean;
}

type Token = { kind: 'byte'; accepts(byte: string): boolean } | { kind: 'star' };

const ANY_DEPTH = '**';

/** Undefined for an empty line or a comment. */
export function parseIgnoreLine(line: string): IgnoreRule | undefined {
  let text = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '');
  if (text === '' || text.startsWith('#')) return undefined;

  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const isForDirs = text.endsWith('/');
  if (isForDirs) text = text.slice(0, -1);
  if (text === '' || text === '/') return undefined;

  const isAnchored = text.includes('/');
  const parts = text.replace(/^\//, '').split('/');
  const tokens = parts.map((part) => (part === ANY_DEPTH ? ANY_DEPTH : tokenize(part)));
  if (tokens.includes(undefined)) return undefined;
  const pattern = tokens as (Token[] | typeof ANY_DEPTH)[];
  return {
    isNegated,
    isForDirs,
    matches: (names) =>
      isAnchored ? matchesPath(pattern, names) : matchesPath([pattern[0]!], names.slice(names.length - 1)),
  };
}

/** Undefined for a name that can match nothing, such as one with an unclosed bracket. */
function tokenize(part: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; at++) {
    const char = part[at]!;
    if (char === '*') tokens.push({ kind: 'star' });
    else if (char === '?') tokens.push({ kind: 'byte', accepts: () => true });
    else if (char === '[') {
      const end = classEnd(part, at);
      if (end < 0) return undefined;
      tokens.push({ kind: 'byte', accepts: classTest(part.slice(at + 1, end)) });
      at = end;
    } else {
      const literal = char === '\\' ? part[++at] : char;
      if (literal === undefined) return undefined;
      tokens.push({ kind: 'byte', accepts: (byte) => byte === literal });
    }
  }
  return tokens;
}

/** A bracket right after the opening one, or after its negation, is a member. */
function classEnd(part: string, open: number): number {
  let at = open + 1;
  if (part[at] === '!' || part[at] === '^') at++;
  if (part[at] === ']') at++;
  for (; at < part.length; at++) {
    if (part[at] === '\\') at++;
    else if (part[at] === ']') return at;
  }
  return -1;
}

function classTest(body: string): (byte: string) => boolean {
  const isNegated = body.startsWith('!') || body.startsWith('^');
  const ranges: [string, string][] = [];
  for (let at = isNegated ? 1 : 0; at < body.length; at++) {
    if (body[at] === '\\') at++;
    const first = body[at] ?? '\\';
    const hasRange = body[at + 1] === '-' && at + 2 < body.length;
    if (hasRange) at += body[at + 2] === '\\' ? 3 : 2;
    ranges.push([first, hasRange ? (body[at] ?? first) : first]);
  }
  return (byte) => ranges.some(([first, last]) => byte >= first && byte <= last) !== isNegated;
}

/** For each prefix of the pattern, how many names it can have matched: a row of a table, not a tree of attempts. */
function matchesPath(pattern: (Token[] | typeof ANY_DEPTH)[], names: readonly string[]): boolean {
  let reached = names.map(() => false).concat(false);
  reached[0] = true;
  for (const [index, part] of pattern.entries()) {
    const next = reached.map(() => false);
    const isLast = index === pattern.length - 1;
    for (const [count, isReached] of reached.entries()) {
      if (!isReached) continue;
      // At the end of the pattern `**` matches at least one name, elsewhere also none.
      if (part === ANY_DEPTH) next.fill(true, isLast ? count + 1 : count);
      else if (count < names.length && matchesName(part, names[count]!)) next[count + 1] = true;
    }
    reached = next;
  }
  return reached[names.length]!;
}

function matchesName(tokens: Token[], name: string): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const expected = tokens[token];
    if (expected?.kind === 'byte' && expected.accepts(name[at]!)) {
      token++;
      at++;
    } else if (expected?.kind === 'star') {
      star = token++;
      starAt = at;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'star') token++;
  return token === tokens.length;
}
