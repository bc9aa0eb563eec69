/** The three ways to say what to run, as one argv. */
import { splitWords, WordsError } from '#host';
import { errors } from './errors.ts';

export interface CommandShape {
  cmd: string;
  args: string[];
  argv: string[];
}

/** White space of any script decides the shape, though only blanks, tabs and newlines separate words. */
const WHITE_SPACE = /\p{White_Space}/u;

const EXAMPLES = 'use cmd: "node -v", or cmd: "node" with args: ["-v"], or argv: ["node", "-v"]';

export function toArgv(shape: CommandShape): string[] {
  const argv = readShape(shape);
  if (!argv[0]) throw errors.fail('S001', { problem: `the command is empty; ${EXAMPLES}` });
  if (argv.some((word) => word.includes('\0'))) {
    throw errors.fail('S001', { problem: 'the command has a NUL character, which no program can be given' });
  }
  return argv;
}

function readShape({ cmd, args, argv }: CommandShape): string[] {
  if (argv.length > 0) {
    if (cmd === '' && args.length === 0) return argv;
    throw errors.fail('S001', {
      problem: `argv stands for the whole command, so cmd and args must be left out; ${EXAMPLES}`,
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
