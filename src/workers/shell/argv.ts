/** The words of a command: as given, or split as a shell would split them, with nothing expanded. */
import { splitWords, WordsError } from '#host';
import { refuse } from './errors.ts';

/** Every pattern of the policy reads all of it; longer input belongs into `stdin` or a file. */
const MAX_ARGV_BYTES = 131_072;
/** Every word is matched against the rules. */
const MAX_ARGV_WORDS = 16_384;

/** The program and its arguments; never empty. */
export type Argv = readonly [program: string, ...args: string[]];

export function toArgv({ command, args }: { command: string; args: readonly string[] | null }): Argv {
  const [program, ...rest] = args === null ? split(command) : [command, ...args];
  if (!program) throw refuse('empty command; name a program in `command`');

  const argv: Argv = [program, ...rest];
  if (argv.length > MAX_ARGV_WORDS) throw refuse(`argv: ${argv.length} words; the limit is ${MAX_ARGV_WORDS}`);

  const cut = argv.findIndex((word) => word.includes('\0'));
  if (cut >= 0) throw refuse(`argv: word ${cut} holds a NUL character`);

  const bytes = argv.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (bytes > MAX_ARGV_BYTES) throw refuse(`argv: ${bytes} bytes; the limit is ${MAX_ARGV_BYTES}`);
  return argv;
}

function split(command: string): string[] {
  // Checked before splitting, which takes time by the length; words are never longer than their text.
  if (command.length > MAX_ARGV_BYTES) {
    throw refuse(`argv: ${command.length} characters; the limit is ${MAX_ARGV_BYTES} bytes`);
  }
  try {
    return splitWords(command);
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    throw refuse(`argv: parse command: ${error.message}`, error);
  }
}
