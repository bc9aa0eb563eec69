/**
 * The failures of shell, and the host's reasons as such.
 *
 * A refusal before the start has no code on the wire, only its text: callers of the original search for the words. Here
 * it has the code `invocation_failed`, as every failed handler.
 */
import { defineErrors, type Door, type Failure } from '#contract';
import { FenceError } from '#fence';
import { codeOfFault, codeOfHostReason, sFailures } from '#file-functions';
import {
  FileFault,
  GlobError,
  HostError,
  LayerError,
  NoTerminalError,
  pathHint,
  RegexError,
  ReplacementError,
  TimeLimitError,
  SpawnError,
  type FaultReason,
  type HostReason,
  type Jail,
} from '#host';
import { codeOfJobFault, JobFault } from '#job-functions';
import { handlerFailure, handlerText, type ErrorBody } from '#protocol';

const UNCODED = 'invocation_failed';

const message = (d: { problem: string }) => d.problem;

export const errors = defineErrors({
  [UNCODED]: {
    meaning:
      'The request is malformed, the policy refuses the command, or there is no such job. The text gives the reason.',
    http: 400,
    message,
  },
  ...sFailures,
  // HTTP callers of shell rely on these statuses, and on trying these two again: pinned since the first release.
  S003: { ...sFailures.S003, retryable: true },
  S004: { ...sFailures.S004, http: 410 },
  S101: { ...sFailures.S101, http: 409 },
  S212: { ...sFailures.S212, http: 400 },
  S400: { ...sFailures.S400, retryable: true },
  // Also of file functions, and without output: a command that timed out is an answer here.
  S200: { ...sFailures.S200, meaning: 'The sandbox timed out.' },
  // Other reasons: malformed requests, protected and denylisted paths, and both targets.
  S210: { ...sFailures.S210, meaning: 'The request is malformed, or not supported by this target.' },
  S211: { ...sFailures.S211, meaning: 'The path does not exist, or it is protected.' },
  S215: { ...sFailures.S215, meaning: 'The path leaves fs.host_root, is denylisted, or is not permitted.' },
  S216: {
    ...sFailures.S216,
    meaning: 'The operating system or the engine failed on the way, or the channel of an upload broke off.',
  },
  // In the original's table of shell::fs a file that is too large, which the same request does not change.
  S218: { meaning: 'The file is larger than fs.max_read_bytes or fs.max_write_bytes.', http: 413, message },
  S226: {
    meaning: 'The fence cannot be built on this host, so no command runs inside it. The text says what failed.',
    http: 501,
    message,
  },
  S230: {
    meaning: 'There is no such change, or it cannot be used now. The text says why.',
    http: 404,
    message: (d: { problem: string; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
  },
});

export type ShellCode = keyof typeof errors.table;

/** A refusal that is only text on the wire. */
export function refuse(problem: string, cause?: unknown): Failure {
  return errors.fail(UNCODED, { problem }, cause);
}

export function spell(failure: Failure): ErrorBody {
  return failure.code === UNCODED ? handlerText(failure.message) : handlerFailure(failure.toFields());
}

const codeFor = {
  ...codeOfHostReason,
  // Once its target exists, the symlink may point outside fs.host_root: it is refused as one that does.
  dangling: 'S215',
} as const satisfies Record<HostReason, ShellCode>;

const codeForFault = {
  ...codeOfFault,
  // In the original's table of shell::fs S218 is a file over max_read_bytes or max_write_bytes.
  'too-large': 'S218',
} as const satisfies Record<FaultReason, ShellCode>;

/** Callers through MCP, HTTP or the CLI also get a suggested path. */
export function translate(
  error: unknown,
  call?: { context: { files: { files: { jail: Jail } } }; door?: Door },
): Failure | undefined {
  if (error instanceof HostError) {
    const hint = call?.door ? pathHint(error, call.context.files.files.jail) : '';
    return errors.fail(codeFor[error.reason], { problem: error.message + hint }, error);
  }
  if (error instanceof SpawnError) return errors.fail('S216', { problem: `host exec: ${error.message}` }, error);
  if (error instanceof FileFault) return errors.fail(codeForFault[error.reason], { problem: error.message }, error);
  if (error instanceof JobFault) {
    if (error.reason === 'full') return refuse(error.message, error);
    return errors.fail(codeOfJobFault[error.reason], { problem: error.message }, error);
  }
  if (error instanceof LayerError) {
    return errors.fail('S230', { problem: error.message, ...(error.fix && { fix: error.fix }) }, error);
  }
  if (error instanceof FenceError) return errors.fail('S226', { problem: `fence: ${error.message}` }, error);
  if (error instanceof NoTerminalError) return errors.fail('S222', { problem: error.message }, error);
  if (error instanceof TimeLimitError) return errors.fail('S216', { problem: error.message }, error);
  if (error instanceof RegexError) return errors.fail('S217', { problem: error.message }, error);
  if (error instanceof ReplacementError || error instanceof GlobError) {
    return errors.fail('S210', { problem: error.message }, error);
  }
  return undefined;
}
