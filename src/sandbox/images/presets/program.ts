/** Runs a system program for an image. Kills everything that it started before this returns. */
import { Children, SpawnError } from '#host';
import { BuildError } from './build-error.ts';

/** Output that is kept; an error shows its last lines. */
const MAX_OUTPUT_BYTES = 1_048_576;
const TAIL_LINES = 5;

export interface ProgramOptions {
  signal: AbortSignal;
  timeoutMs: number;
  /** The server's own directory when absent. */
  cwd?: string;
  env?: Record<string, string>;
  /** Error text when the program is not installed. */
  hint: string;
  /** Added to the error when it fails. */
  advice?: string | undefined;
}

/** Returns its standard output. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<string> {
  const { signal, timeoutMs, cwd, hint, advice } = options;
  const env = { ...ownEnv(), ...options.env };
  const children = await Children.open();
  const stop = () => void children.close();
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', stop);
    const child = await children.start({
      argv,
      env,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      timeoutMs,
      ...(cwd !== undefined && { cwd }),
    });
    const { exitCode, signal: killedBy, timedOut, stdout, stderr } = await child.done;
    signal.throwIfAborted();
    if (exitCode === 0) return stdout.toString();

    const how = timedOut ? `did not end in ${timeoutMs} ms` : `ended with ${killedBy ?? exitCode}`;
    const words = `${argv[0]} ${how}: ${tailOf(stderr.toString())}`;
    throw new BuildError(advice === undefined ? words : `${words}\n${advice}`);
  } catch (error) {
    if (error instanceof SpawnError && error.code === 'ENOENT') throw new BuildError(hint, { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await children.close();
  }
}

/** Package managers take proxies and mirrors from it. */
function ownEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

function tailOf(text: string): string {
  return text.trim().split('\n').slice(-TAIL_LINES).join('\n');
}
