/** The three forms of a command, as one argv. */
import { shellSignInArgs, shellSignInLine, splitWords, toShellLine, WordsError } from '#host';
import { errors } from '../errors.ts';

export interface CommandShape {
  cmd: string;
  args: string[];
  argv: string[];
}

/** Any Unicode white space decides the form, though only blanks, tabs and newlines separate words. */
const WHITE_SPACE = /\p{White_Space}/u;

const EXAMPLES = 'use cmd: "node -v", or cmd: "node" with args: ["-v"], or argv: ["node", "-v"]';

/** The agent's limit for one command with its environment. No system gives a program as much. */
const MAX_BYTES = 4 * 1024 * 1024;

export function toArgv(shape: CommandShape): string[] {
  requireSendable([shape.cmd, ...shape.args, ...shape.argv], 'the command');
  const argv = readShape(shape);
  if (!argv[0]) throw errors.fail('S001', { problem: `the command is empty; ${EXAMPLES}` });
  if (argv.some((word) => word.includes('\0'))) {
    throw errors.fail('S001', { problem: 'the command has a NUL character, which no program can be given' });
  }
  return argv;
}

/** Refuses a shell line of a person or model, because it would run as plain words; `fix` runs it in a shell. */
export function refuseShellLine({ cmd, args, argv }: CommandShape): void {
  const [first = '', ...others] = argv.length > 0 ? argv : [cmd, ...args];
  const found = others.length === 0 ? shellSignInLine(first.trim()) : shellSignInArgs(first, others);
  if (!found) return;

  const line = ['-c', toShellLine([first, ...others])];
  throw errors.fail('S001', {
    problem: `no shell runs this command, so \`${found.sign}\` has no effect; run "sh" with ["-c", LINE]`,
    fix: argv.length > 0 ? { argv: ['sh', ...line] } : { cmd: 'sh', args: line },
  });
}

/** Before any work: refuses words that no program can receive. */
export function requireSendable(words: readonly string[], what: string): void {
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (bytes <= MAX_BYTES) return;
  throw errors.fail('S001', { problem: `${what} is ${bytes} bytes; a program can be given ${MAX_BYTES} at most` });
}

function readShape({ cmd, args, argv }: CommandShape): string[] {
  if (argv.length > 0) {
    if (args.length === 0 && !WHITE_SPACE.test(cmd)) return argv;
    throw errors.fail('S001', {
      problem: `argv stands for the whole command, so args and a cmd with white space are ambiguous; ${EXAMPLES}`,
    });
  }
  if (!WHITE_SPACE.test(cmd)) return [cmd, ...args];
  if (args.length > 0) {
    throw errors.fail('S001', {
      problem: `cmd has white space and args are given, which is ambiguous: is cmd one word? ${EXAMPLES}`,
    });
  }
  try {
    return splitWords(cmd, { isStrict: true });
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    throw errors.fail('S001', { problem: `unbalanced quotes in cmd: ${error.message}; ${EXAMPLES}` }, error);
  }
}
