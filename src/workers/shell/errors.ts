/**
 * The failures of shell, and the host's reasons as such.
 *
 * A refusal before the start has no code on the wire, only its text: callers of the original search for the words. Here
 * it has the code `invocation_failed`, as every failed handler.
 */
import { defineErrors, type Door, type Failure } from '#contract';
import { FenceError } from '#fence';
import { codeOfFault, codeOfHostReason } from '#file-functions';
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
    meaning: 'The request is malformed, the policy refuses the command, or there is no such job. The text says which.',
    http: 400,
    message,
  },
  S001: { meaning: 'The sandbox refuses the request.', http: 400, message },
  S002: { meaning: 'There is no such sandbox.', http: 404, message },
  S003: { meaning: 'The sandbox is at its limit of concurrent commands.', http: 429, retryable: true, message },
  S004: { meaning: 'The sandbox has stopped.', http: 410, message },
  S100: { meaning: 'The image is not allowed for sandboxes.', http: 404, message },
  S101: { meaning: 'The image is not on this host, and sandboxes may not fetch it.', http: 409, message },
  S102: { meaning: 'The image could not be fetched.', http: 502, retryable: true, message },
  S200: { meaning: 'The sandbox timed out.', http: 504, message },
  S210: { meaning: 'The request is malformed, or not supported by this target.', http: 400, message },
  S211: { meaning: 'The path does not exist, or it is protected.', http: 404, message },
  S212: { meaning: 'The path is of the wrong kind.', http: 400, message },
  S213: { meaning: 'The path already exists.', http: 409, message },
  S214: { meaning: 'The directory is not empty.', http: 409, message },
  S215: { meaning: 'The path leaves fs.host_root, is denylisted, or is not permitted.', http: 403, message },
  S216: {
    meaning: 'The operating system or the engine failed on the way, or the channel of an upload broke off.',
    http: 500,
    message,
  },
  S217: { meaning: 'The regex does not compile.', http: 400, message },
  S218: { meaning: 'The file is larger than fs.max_read_bytes or fs.max_write_bytes.', http: 413, message },
  S219: { meaning: 'The sandbox does not support the operation.', http: 501, message },
  S220: { meaning: 'There is no such job, or it was forgotten some time after its end.', http: 404, message },
  S221: { meaning: 'The job has no input, its input was ended, or the job has ended.', http: 409, message },
  S222: { meaning: 'This host cannot give a job a terminal.', http: 501, message },
  S223: { meaning: 'The offset is beyond the end of the output.', http: 400, message },
  S224: { meaning: 'Too many callers are attached.', http: 429, retryable: true, message },
  S225: { meaning: 'The signal cannot be sent to this job.', http: 400, message },
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
  S300: { meaning: 'The sandbox could not be started or reached.', http: 503, message },
  S400: { meaning: 'A limit on sandboxes is reached.', http: 429, retryable: true, message },
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

/** Callers at a door also get a suggested path. */
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
