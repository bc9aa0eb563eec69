/**
 * Detects shell syntax in a command that runs without a shell, and builds the line for one.
 *
 * A line split into words passes `>` to the program, so `echo hi > x` prints `hi > x` and succeeds.
 */
export interface ShellSign {
  sign: string;
  kind: 'redirect' | 'input' | 'pipe' | 'sequence' | 'background' | 'glob' | 'expansion' | 'assignment' | 'builtin';
}

/** Longest first. */
const OPERATORS: Record<string, ShellSign['kind']> = {
  '&&': 'sequence',
  '||': 'sequence',
  '|': 'pipe',
  ';': 'sequence',
  '>': 'redirect',
  '<': 'input',
  '&': 'background',
};
export const ASSIGNMENT = /^([A-Za-z_]\w*)=(\S*)\s+(\S.*)$/s;
const BUILTIN = /^(?:cd|source|export|alias|eval|pushd|\.)(?=\s|$)/;
/** Arguments that only a shell reads; a bare `|` or `;` may be a separator meant for the program. */
const OPERATOR_ARGS = new Set(['>', '>>', '2>', '2>&1', '&&', '||']);
/** Programs that take such words themselves. */
const COMPARING = new Set(['test', '[', 'expr']);
const NEEDS_NO_QUOTES = /^[\w@%+=:,./-]+$/;

/** The first sign in a program's arguments. */
export function shellSignInArgs(program: string, args: readonly string[]): ShellSign | undefined {
  if (COMPARING.has(program)) return undefined;
  const sign = args.find((arg) => OPERATOR_ARGS.has(arg));
  if (sign === undefined) return undefined;
  return { sign, kind: sign === '&&' || sign === '||' ? 'sequence' : 'redirect' };
}

/** The line for `sh`: one word is a line already; of several, operators stay bare and the others are quoted. */
export function toShellLine(words: readonly [string, ...string[]]): string {
  // Not every `sh` has `source`.
  if (words.length === 1) return words[0].trim().replace(/^source(?=\s)/, '.');
  const isBare = (word: string) => OPERATOR_ARGS.has(word) || NEEDS_NO_QUOTES.test(word);
  return words.map((word) => (isBare(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ');
}

/** The first sign of a line outside of quotes. */
export function shellSignInLine(line: string): ShellSign | undefined {
  const [builtin] = BUILTIN.exec(line) ?? [];
  if (builtin !== undefined) return { sign: builtin, kind: 'builtin' };
  const [assignment] = ASSIGNMENT.exec(line) ?? [];
  if (assignment !== undefined) return { sign: assignment.slice(0, assignment.search(/\s/)), kind: 'assignment' };

  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (char === '\\' && quote !== "'") at++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '#' && /\s/.test(line[at - 1] ?? ' ')) return undefined;
    else {
      const sign = signAt(line, at);
      if (sign) return sign;
    }
  }
  return undefined;
}

function signAt(line: string, at: number): ShellSign | undefined {
  const operator = Object.keys(OPERATORS).find((sign) => line.startsWith(sign, at));
  if (operator !== undefined) return { sign: operator, kind: OPERATORS[operator]! };

  const rest = line.slice(at, at + 200);
  const [expansion] = /^(?:\$\(|\$\{|\$[A-Za-z_]\w*|`)/.exec(rest) ?? [];
  if (expansion !== undefined) return { sign: expansion, kind: 'expansion' };
  const isWordStart = at === 0 || /\s/.test(line[at - 1]!);
  if (isWordStart && /^~(?:\/|\s|$)/.test(rest)) return { sign: '~', kind: 'expansion' };
  return line[at] === '*' ? { sign: wordAt(line, at), kind: 'glob' } : undefined;
}

function wordAt(line: string, at: number): string {
  const before = /\S*$/.exec(line.slice(Math.max(0, at - 50), at))![0];
  return before + /^\S*/.exec(line.slice(at, at + 50))![0];
}
