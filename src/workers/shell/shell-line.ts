/**
 * Shell syntax in a command that runs without a shell, and the call that does what was meant.
 *
 * The contract splits such a line into words and hands `>` to the program, so `echo hi > x` prints `hi > x` and succeeds.
 * A program on the bus gets just that; a person or a model at a door is told.
 */
interface Sign {
  sign: string;
  kind: 'redirect' | 'input' | 'pipe' | 'sequence' | 'background' | 'glob' | 'expansion' | 'assignment' | 'builtin';
}

interface Line {
  command: string;
  args: readonly string[] | null;
}

/** Longest first. */
const OPERATORS: Record<string, Sign['kind']> = {
  '&&': 'sequence',
  '||': 'sequence',
  '|': 'pipe',
  ';': 'sequence',
  '>': 'redirect',
  '<': 'input',
  '&': 'background',
};
const ASSIGNMENT = /^([A-Za-z_]\w*)=(\S*)\s+(\S.*)$/s;
const BUILTIN = /^(?:cd|source|export|alias|eval|pushd|\.)(?=\s|$)/;
const CHANGE_DIRECTORY = /^cd\s+(\S+)\s*(?:&&|;)\s*(\S.*)$/s;
/** Arguments that only a shell reads; a bare `|` or `;` may be a separator that a program was given. */
const OPERATOR_ARGS = new Set(['>', '>>', '2>', '2>&1', '&&', '||']);
/** Programs that take such words themselves. */
const COMPARING = new Set(['test', '[', 'expr']);

const ADVICE: Record<Sign['kind'], string> = {
  redirect: 'run the command without it and write its output with coder::create-file or shell::fs::write',
  input: 'send the input as `stdin`',
  pipe: 'run the first command alone and read its output, or search files with coder::search',
  sequence: 'make one call for each command',
  background: 'start it with shell::exec_bg',
  glob: 'list the names with coder::list-folder and pass them in `args`; put it in quotes when the program reads it',
  expansion: 'write the value itself; put it in quotes when the program reads it',
  assignment: 'set the variable by `env`',
  builtin: 'name the directory by `cwd` and variables by `env`',
};

/** Why a command is a shell line and what to call instead; undefined for one that is not. */
export function shellLineObjection(line: Line, { hasShell }: { hasShell: boolean }): string | undefined {
  const found = line.args === null ? findSign(line.command.trim()) : findArgument(line.command, line.args);
  if (!found) return undefined;

  const text = line.args === null ? line.command.trim() : [line.command, ...line.args].join(' ');
  const call = callInstead(text, hasShell);
  const next = call === undefined ? ADVICE[found.kind] : `call with ${JSON.stringify(call)}`;
  const elsewhere = hasShell
    ? ''
    : '; a shell line runs in a sandbox: sandbox::exec with cmd "sh" and args ["-c", LINE]';
  return `no shell runs this command, so \`${found.sign}\` has no effect: ${next}${elsewhere}`;
}

function callInstead(text: string, hasShell: boolean): Record<string, unknown> | undefined {
  const [, directory, rest = ''] = CHANGE_DIRECTORY.exec(text) ?? [];
  if (directory !== undefined && !findSign(rest)) return { command: rest, cwd: directory };
  const [, name = '', value, command = ''] = ASSIGNMENT.exec(text) ?? [];
  if (value !== undefined && !/["'$`]/.test(value) && !findSign(command)) return { command, env: { [name]: value } };
  return hasShell ? { command: 'sh', args: ['-c', text] } : undefined;
}

function findArgument(program: string, args: readonly string[]): Sign | undefined {
  if (COMPARING.has(program)) return undefined;
  const sign = args.find((arg) => OPERATOR_ARGS.has(arg));
  if (sign === undefined) return undefined;
  return { sign, kind: sign === '&&' || sign === '||' ? 'sequence' : 'redirect' };
}

/** The first sign outside of quotes. */
function findSign(line: string): Sign | undefined {
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

function signAt(line: string, at: number): Sign | undefined {
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
