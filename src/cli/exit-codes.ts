/** Exit codes of all commands. */
import { CallError } from '#contract';

export const EXIT = {
  ok: 0,
  /** The call or the command itself failed. */
  failed: 1,
  /** Bad usage or bad configuration: nothing was started. */
  usage: 2,
  /** The engine could not be reached. */
  unreachable: 3,
} as const;

/** Exit codes of commands that exit with the code of a program, when the program did not run: those of Docker. */
export const NOT_RUN = {
  /** Workcell itself failed: bad usage, an engine that does not answer, a call that failed. */
  workcell: 125,
  /** The program cannot be started, or the policy refuses it. */
  refused: 126,
  notFound: 127,
} as const;

export const EXIT_CODES =
  'Exit codes: 0 done, 1 the call failed, 2 bad usage or configuration, 3 no engine reached. exec, sandbox exec and ' +
  'sandbox run exit with the code of the program, or 124 when it timed out, 125 when Workcell itself failed, 126 when ' +
  'the program cannot be started or is refused, and 127 when it was not found.';

/** The shell worker reports a refused program by its text alone, as the original does. */
export function exitCodeNotRun(error: unknown): number {
  if (!(error instanceof CallError)) return NOT_RUN.workcell;
  const { code, message } = error;
  if (code === 'invocation_failed' && /^command '.*' not found on PATH/.test(message)) return NOT_RUN.notFound;
  if (code === 'S216' && /^host exec: .* (was not found|has a file as a parent directory)$/.test(message))
    return NOT_RUN.notFound;
  const isRefused =
    code === 'invocation_failed' ? /^command\b/.test(message) : code === 'S216' && message.startsWith('host exec: ');
  return isRefused ? NOT_RUN.refused : NOT_RUN.workcell;
}
