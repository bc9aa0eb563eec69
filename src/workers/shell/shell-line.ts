/**
 * Refuses a shell line sent to shell::exec, with a call that runs it as intended.
 *
 * A program on the bus gets the contract's error text; a person or a model gets the explanation.
 */
import { ASSIGNMENT, shellSignInArgs, shellSignInLine, toShellLine, type ShellSign } from '#host';

interface Line {
  command: string;
  args: readonly string[] | null;
}

const CHANGE_DIRECTORY = /^cd\s+(\S+)\s*(?:&&|;)\s*(\S.*)$/s;

const ADVICE: Record<ShellSign['kind'], string> = {
  redirect: 'run the command without it and write its output with coder::create-file or shell::fs::write',
  input: 'send the input as `stdin`',
  pipe: 'run the first command alone and read its output, or search files with coder::search',
  sequence: 'make one call for each command',
  background: 'start it with shell::exec_bg',
  glob: 'list the names with coder::list-folder and pass them in `args`; put it in quotes when the program reads it',
  expansion: 'write the value itself; put it in quotes when the program reads it',
  assignment: 'set by `env` what allowed_env of the operator lists',
  builtin: 'name the directory by `cwd`, the program by its path, and variables by `env`',
};

export interface ShellOptions {
  /** Whether the policy allows `sh`. */
  hasShell: boolean;
  /** Whether a call may send the line as `script`. */
  takesScript?: boolean;
  /** Whether a call may set the variable; absent where it may set neither variables nor a directory. */
  maySet?: (name: string) => boolean;
}

/** Why a command is a shell line and the call to make instead; undefined if it is not one. */
export function shellLineObjection({ command, args }: Line, options: ShellOptions): string | undefined {
  const found = args === null ? shellSignInLine(command.trim()) : shellSignInArgs(command, args);
  if (!found) return undefined;

  const call = callInstead(toShellLine([command, ...(args ?? [])]), options);
  const next = call === undefined ? ADVICE[found.kind] : `call with ${JSON.stringify(call)}`;
  const elsewhere = options.hasShell
    ? ''
    : '; a shell line runs in a sandbox: sandbox::exec with cmd "sh" and args ["-c", LINE]';
  return `no shell runs this command, so \`${found.sign}\` has no effect: ${next}${elsewhere}`;
}

function callInstead(
  line: string,
  { hasShell, takesScript, maySet }: ShellOptions,
): Record<string, unknown> | undefined {
  if (takesScript) return { command: '', script: line };
  const withShell = hasShell ? { command: 'sh', args: ['-c', line] } : undefined;
  if (!maySet) return withShell;

  const [, directory, rest = ''] = CHANGE_DIRECTORY.exec(line) ?? [];
  if (directory !== undefined && !shellSignInLine(rest)) return { command: rest, cwd: directory };
  const [, name = '', value, command = ''] = ASSIGNMENT.exec(line) ?? [];
  const isPlain = value !== undefined && !/["'$`]/.test(value) && !shellSignInLine(command) && maySet(name);
  return isPlain ? { command, env: { [name]: value } } : withShell;
}
