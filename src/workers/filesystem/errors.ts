/**
 * The failures of filesystem, and the host's reasons as such.
 *
 * A failure is a result with `success: false`, so every row is answered with HTTP 200; the code is in `metadata`.
 */
import { defineErrors, type Door, type Failure } from '#contract';
import {
  GlobError,
  HostError,
  LayerError,
  pathHint,
  RegexError,
  TimeLimitError,
  type ClosestLine,
  type HostReason,
  type Jail,
} from '#host';

export const errors = defineErrors({
  F210: {
    meaning: 'The request is malformed, or asks for something that this path cannot give.',
    http: 200,
    message: (d: { problem: string }) => d.problem,
  },
  F211: {
    meaning: 'The path does not exist, or it is protected.',
    http: 200,
    message: (d: { problem: string; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
  },
  F212: {
    meaning: 'Something else is at the path: a directory for a file, or a file for a directory.',
    http: 200,
    message: (d: { problem: string; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
  },
  F213: {
    meaning: 'The file is larger than max_file_size, or would be.',
    http: 200,
    message: (d: { path: string; size: number; limit: number }) =>
      `${d.path} is ${d.size} bytes; max_file_size is ${d.limit}, which the operator can raise`,
  },
  F215: {
    meaning: 'The path is outside the allowed paths, by its names or through a symlink.',
    http: 200,
    message: (d: { path: string }) => `Path '${d.path}' is outside allowed paths`,
  },
  F216: {
    meaning: 'A system call or the worker failed; the text says which.',
    http: 200,
    message: (d: { problem: string }) => d.problem,
  },
  F217: {
    meaning: 'Something is there already and the request does not ask to overwrite it.',
    http: 200,
    message: (d: { problem: string }) => d.problem,
  },
  F218: {
    meaning: 'The file is not text in this encoding.',
    http: 200,
    message: (d: { path: string; encoding: string; advice: string }) =>
      `${d.path} is not ${d.encoding} text; ${d.advice}`,
  },
  F219: {
    meaning: 'The text to be replaced is not in the file; metadata has the closest lines.',
    http: 200,
    message: (d: { path: string; closest: ClosestLine[] }) =>
      `old_string is not in ${d.path}; ${d.closest.length > 0 ? 'copy the text from metadata.closest' : 'read the file for its text'}`,
    extra: (d: { closest: ClosestLine[] }) => ({ closest: d.closest }),
  },
  F220: {
    meaning: 'The text to be replaced is in the file more than once and the request expects it once.',
    http: 200,
    message: (d: { path: string; count: number; lines: number[] }) =>
      `old_string is ${d.count} times in ${d.path}, first at lines ${d.lines.join(', ')}; expect_unique is set: give more of the text around it, or count: 0 to replace all`,
    extra: (d: { count: number; lines: number[] }) => ({ count: d.count, lines: d.lines }),
  },
  F221: {
    meaning: 'The file is no longer at the version that the request expects.',
    http: 200,
    message: (d: { path: string; expected: string; actual: string }) =>
      `${d.path} is at version ${d.actual}; the request expects ${d.expected}: read the file again`,
    fix: (d: { actual: string }) => ({ expected_version: d.actual }),
    extra: (d: { actual: string }) => ({ version: d.actual }),
  },
  F222: {
    meaning: 'The file has no such line.',
    http: 200,
    message: (d: { problem: string; totalLines: number }) => d.problem,
    extra: (d: { totalLines: number }) => ({ total_lines: d.totalLines }),
  },
  F230: {
    meaning: 'There is no such change, or it cannot be used now. The text says why.',
    http: 200,
    message: (d: { problem: string; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
  },
});

const codeFor = {
  absolute: 'F210',
  relative: 'F210',
  root: 'F210',
  missing: 'F211',
  protected: 'F211',
  hidden: 'F211',
  escape: 'F215',
  dangling: 'F211',
  exists: 'F217',
  denied: 'F216',
  'not-a-file': 'F212',
  'not-a-directory': 'F212',
  'not-a-parent': 'F212',
  'not-empty': 'F216',
  'invalid-name': 'F210',
  attributes: 'F216',
  unsaved: 'F216',
  io: 'F216',
} as const satisfies Record<HostReason, keyof typeof errors.table>;

/** Failures that need no jail. */
export function translate(error: unknown): Failure | undefined {
  if (error instanceof TimeLimitError) return errors.fail('F216', { problem: error.message }, error);
  if (error instanceof LayerError)
    return errors.fail('F230', { problem: error.message, ...(error.fix && { fix: error.fix }) }, error);
  if (!(error instanceof GlobError) && !(error instanceof RegexError)) return undefined;
  return errors.fail('F210', { problem: error.message }, error);
}

/**
 * A host error with the absolute path that it is about: `given` are the paths of the request, others start at `/`.
 * Callers through MCP, HTTP or the CLI also get a suggested path.
 */
export function hostErrorToFailure(
  error: HostError,
  jail: Jail,
  { given, door }: { given: readonly unknown[]; door?: Door },
): Failure {
  const path = given.includes(error.path) ? resolved(error, jail) : `/${error.path.replace(/^\//, '')}`;
  const code = codeFor[error.reason];
  if (code === 'F215') return errors.fail(code, { path }, error);

  const hint = door ? pathHint(error, jail) : '';
  const problem = path + error.message.slice((error.path || '.').length) + hint;
  return errors.fail(code, { problem }, error);
}

/** A name that no file system accepts is shown as JSON. */
function resolved({ reason, path }: HostError, jail: Jail): string {
  return reason === 'invalid-name' ? JSON.stringify(path.slice(0, 200)) : jail.resolveTarget(path);
}
