/**
 * The failures of iii-sandbox. On the wire each has seven keys, `code` first: consumers look for the first code in the
 * text.
 *
 * `fix` is the next request, ready to send; `fix_note` says what to do where there is none.
 */
import { defineErrors, type ErrorRow, type Failure } from '#contract';
import type { RefusedTarget } from '#egress';
import { handlerFailure, type ErrorBody } from '#protocol';

type Kind = 'validation' | 'config' | 'internal' | 'transient' | 'execution' | 'filesystem' | 'platform';

/** A row of this worker's table. */
export interface SandboxRow<Details> extends ErrorRow<Details> {
  type: Kind;
  /** What to do next where `fix` cannot express it. */
  note: string;
}

const row = <Details>(it: SandboxRow<Details>): SandboxRow<Details> => it;

const GONE = 'The sandbox is gone. Create another with sandbox::create and use its id.';
const PLATFORM = 'The machine under the sandbox failed. Run `workcell doctor` to see what this host can run.';

const CAPPED = 'Split the work, or let the operator raise max_exec_timeout_ms in the iii-sandbox block.';

/** Whether all output was sent through the channel of the caller. */
export interface PartialOutput {
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  egress_refused?: RefusedTarget[];
  /** All of it went through the channel of the caller. */
  streamed?: true;
}

export const errors = defineErrors({
  S001: row({
    meaning: 'The request is malformed.',
    http: 400,
    type: 'validation',
    note: 'The message names the field and what it may be.',
    message: (d: { problem: string; fix?: Record<string, unknown> }) => `invalid request: ${d.problem}`,
    fix: (d) => d.fix,
  }),
  S002: row({
    meaning: 'No sandbox ever had this id, as far as this worker remembers.',
    http: 404,
    type: 'validation',
    note: 'Create a sandbox with sandbox::create and use the id that it returns.',
    message: (d: { id: string; ended?: string }) =>
      `sandbox not found: ${d.id}${d.ended === undefined ? '' : ` (${d.ended})`}`,
  }),
  S003: row({
    meaning: 'As many commands run in this sandbox as max_concurrent_exec_per_sandbox allows.',
    http: 429,
    type: 'validation',
    note:
      'Each slot is held by a command in the foreground. Waiting helps when it ends by itself; a server does not: start ' +
      'it detached (nohup … >/tmp/log 2>&1 &), or end everything with sandbox::stop and create another sandbox.',
    message: (d: { id: string; cap: number }) => `sandbox ${d.id} is at its exec concurrency cap (${d.cap})`,
  }),
  S004: row({
    meaning: 'The sandbox was stopped: by a call, because it was idle, or because its machine ended.',
    http: 409,
    type: 'validation',
    note: GONE,
    message: (d: { id: string; ended?: string | undefined }) =>
      `sandbox already stopped: ${d.id}${d.ended === undefined ? '' : ` (${d.ended})`}`,
  }),
  S100: row({
    meaning: 'No such image, or image_allowlist does not have it.',
    http: 404,
    type: 'config',
    note: 'Use one of the images that the message lists, or let the operator add it to custom_images and image_allowlist.',
    message: (d: { image: string; allowed: string[] }) =>
      `image '${d.image}' not in catalog; ` +
      (d.allowed.length === 0 ? 'no image is allowed' : `allowed: ${d.allowed.join(', ')}`),
    fix: (d) => (d.allowed.length === 1 ? { image: d.allowed[0] } : undefined),
  }),
  S101: row({
    meaning: 'The image is not on this machine and auto_install is off.',
    http: 503,
    type: 'internal',
    note: 'The operator must fetch it first: workcell sandbox pull <image>.',
    message: (d: { image: string }) => `rootfs missing on disk for image '${d.image}'`,
  }),
  S102: row({
    meaning: 'The image could not be fetched or built, or not as soon as patience_ms.',
    http: 502,
    retryable: true,
    type: 'transient',
    note: 'Try again after a pause; the work on an image continues meanwhile.',
    message: (d: { image: string; problem: string } | { image: string; progress: string }) =>
      'progress' in d
        ? `image '${d.image}' is being built (${d.progress}); call again`
        : `auto-install failed for image '${d.image}': ${d.problem}`,
  }),
  S200: row({
    meaning: 'The command did not end in time and was killed. What it wrote so far is in the error.',
    http: 504,
    type: 'execution',
    note: 'Raise timeout_ms, or split the work.',
    message: (d: { timeoutMs: number; askedMs: number; output: PartialOutput }) =>
      `exec timed out after ${d.timeoutMs} ms` +
      (d.timeoutMs < d.askedMs ? `: max_exec_timeout_ms of the configuration (${d.askedMs} were asked for)` : ''),
    extra: (d) => ({ ...d.output, ...(d.timeoutMs < d.askedMs && { fix_note: CAPPED }) }),
  }),
  S210: row({
    meaning: 'The operation on a file or a job cannot be done as asked.',
    http: 400,
    type: 'filesystem',
    note: 'The message says what is not possible and what to request instead.',
    message: (d: { problem: string }) => d.problem,
  }),
  S211: row({
    meaning: 'Nothing is at the path.',
    http: 404,
    type: 'filesystem',
    message: (d: { path: string; parent?: string; meant?: string }) =>
      d.parent === undefined
        ? `file not found: path not found: ${d.path}${d.meant === undefined ? '' : `; did you mean ${d.meant}?`}`
        : `parent directory not found: parent not found: ${d.parent}`,
    fix: (d) => (d.parent === undefined ? undefined : { parents: true }),
    note: 'Paths are absolute inside the sandbox; sandbox::fs::ls of a directory above shows what is there.',
  }),
  S212: row({
    meaning: 'The path is of another kind than the operation needs.',
    http: 409,
    type: 'filesystem',
    note: 'Call sandbox::fs::stat to see what is at the path.',
    message: (d: { path: string }) => `not a directory or wrong type: ${d.path}`,
  }),
  S213: row({
    meaning: 'The path already exists.',
    http: 409,
    type: 'filesystem',
    note: 'Use another path, or allow it: overwrite: true for mv, parents: true for mkdir.',
    message: (d: { path: string }) => `already exists: ${d.path}`,
  }),
  S214: row({
    meaning: 'The directory has entries and the request does not say recursive.',
    http: 409,
    type: 'filesystem',
    message: (d: { path: string }) => `directory not empty: ${d.path}`,
    fix: () => ({ recursive: true }),
    note: 'Remove its contents first, or set recursive: true to delete everything below.',
  }),
  S215: row({
    meaning: 'The guest does not permit it.',
    http: 403,
    type: 'filesystem',
    note: 'Use a path that the user of the image may change, such as one below /tmp.',
    message: (d: { path: string }) => `permission denied: ${d.path}`,
  }),
  S216: row({
    meaning: 'The file system of the guest, or the way there, failed.',
    http: 500,
    type: 'filesystem',
    note: 'The message says what failed. If the sandbox itself is broken, create another with sandbox::create.',
    message: (d: { problem: string }) => `fs i/o error: ${d.problem}`,
  }),
  S217: row({
    meaning: 'The pattern is not a valid regular expression.',
    http: 400,
    type: 'filesystem',
    note: 'Patterns are regular expressions without look-around and back-references; sed takes plain text with regex: false.',
    message: (d: { problem: string }) => `invalid regex pattern: ${d.problem}`,
  }),
  S218: row({
    meaning: 'The upload stalled, or its channel broke off before it ended. Nothing was written.',
    http: 408,
    retryable: true,
    type: 'transient',
    note: 'Send the file again, through a new channel.',
    message: (d: { problem: string }) => `fs channel aborted: ${d.problem}`,
  }),
  S219: row({
    meaning: 'The agent in the guest does not know the operation.',
    http: 501,
    type: 'filesystem',
    note: 'The agent in this sandbox is older than the server: create another with sandbox::create.',
    message: (d: { problem: string }) => d.problem,
  }),
  S220: row({
    meaning: 'There is no such job, or it was forgotten some time after its end.',
    http: 404,
    type: 'validation',
    note: 'Use the id that sandbox::exec_bg returned; sandbox::jobs lists those that run or have ended lately.',
    message: (d: { problem: string }) => d.problem,
  }),
  S221: row({
    meaning: 'The job has no input, its input was ended, or the job has ended.',
    http: 409,
    type: 'execution',
    message: (d: { problem: string }) => d.problem,
    fix: () => ({ input: true }),
    note: 'Start it with input: true in sandbox::exec_bg.',
  }),
  S222: row({
    meaning: 'The sandbox cannot give the command a terminal.',
    http: 501,
    type: 'platform',
    note: 'A sandbox has 64 terminals: end a job that has one, or start this one with input: true instead of a terminal.',
    message: (d: { problem: string }) => d.problem,
  }),
  S223: row({
    meaning: 'The offset is beyond the end of the output.',
    http: 400,
    type: 'validation',
    note: 'Use `next` of the last answer as `since`.',
    message: (d: { problem: string }) => d.problem,
  }),
  S224: row({
    meaning: 'Too many callers are attached.',
    http: 429,
    retryable: true,
    type: 'transient',
    note: 'Read with sandbox::output, or try again when another caller has left.',
    message: (d: { problem: string }) => d.problem,
  }),
  S225: row({
    meaning: 'The signal cannot be sent to this job.',
    http: 400,
    type: 'validation',
    note: 'Leave `signal` out to kill it.',
    message: (d: { problem: string }) => d.problem,
  }),
  S300: row({
    meaning:
      'The sandbox could not be started, or its machine died. In a cluster: its host was lost or is not reachable.',
    http: 503,
    type: 'platform',
    note: PLATFORM,
    message: (d: { problem: string } | { host: string; note: string }) =>
      'host' in d ? `host ${d.host}` : `VM boot failed: ${d.problem}`,
    extra: (d) => ('note' in d ? { fix_note: d.note } : {}),
  }),
  S400: row({
    meaning: 'A limit of the configuration is reached.',
    http: 429,
    type: 'config',
    note: 'Stop a sandbox that is no longer needed, request less, or let the operator raise the limit that the message names.',
    message: (d: { problem: string; fix?: Record<string, unknown>; isStarting?: boolean }) =>
      `resource limit exceeded: ${d.problem}`,
    fix: (d) => d.fix,
    extra: (d) => (d.isStarting ? { starting: true } : {}),
  }),
});

/** All seven keys, whatever the failure fills in. The URL is complete if the engine's is known. */
export function spell(failure: Failure, { httpUrl = '' }: { httpUrl?: string } = {}): ErrorBody {
  const { type, note, retryable } = errors.table[failure.code as keyof typeof errors.table] as SandboxRow<unknown>;
  const { fix = null, fix_note = fix === null ? note : null, ...more } = failure.extra;
  return handlerFailure({
    code: failure.code,
    docs_url: `${httpUrl}/docs/errors#${failure.code}`,
    fix,
    fix_note,
    message: failure.message,
    retryable: retryable ?? false,
    type,
    ...more,
  });
}
