/**
 * The failures of iii-sandbox. On the wire each has seven keys, `code` first: consumers look for the first code in the
 * text.
 *
 * `fix` is the next request, ready to send; `fix_note` is the next step in words where there is none.
 */
import { defineErrors, type ErrorRow, type Failure } from '#contract';
import type { RefusedTarget } from '#egress';
import { sFailures } from '#file-functions';
import { handlerFailure, type ErrorBody } from '#protocol';

type Kind = 'validation' | 'config' | 'internal' | 'transient' | 'execution' | 'filesystem' | 'platform';

/** A row of this worker's table. */
export interface SandboxRow<Details> extends ErrorRow<Details> {
  type: Kind;
  /** Next step where `fix` cannot express it. */
  note: string;
}

const row = <Details>(it: SandboxRow<Details>): SandboxRow<Details> => it;

const GONE = 'The sandbox is gone. Create another with sandbox::create and use its id.';
const PLATFORM = 'The machine under the sandbox failed. Run `workcell doctor` to see what this host can run.';

const CAPPED = 'Split the work, or let the operator raise max_exec_timeout_ms in the iii-sandbox block.';

/** Output of a command that timed out, as its error carries it. */
export interface PartialOutput {
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  egress_refused?: RefusedTarget[];
  /** Whether all output was sent through the channel of the caller. */
  streamed?: true;
}

export const errors = defineErrors({
  S001: row({
    ...sFailures.S001,
    type: 'validation',
    note: 'The message names the field and its allowed values.',
    message: (d: { problem: string; fix?: Record<string, unknown> }) => `invalid request: ${d.problem}`,
    fix: (d) => d.fix,
  }),
  S002: row({
    ...sFailures.S002,
    type: 'validation',
    note: 'Create a sandbox with sandbox::create and use the id that it returns.',
    message: (d: { id: string; ended?: string }) =>
      `sandbox not found: ${d.id}${d.ended === undefined ? '' : ` (${d.ended})`}`,
  }),
  S003: row({
    ...sFailures.S003,
    type: 'validation',
    note:
      'A command in the foreground has each slot. Waiting helps when it ends by itself; a server does not: start ' +
      'it detached (nohup … >/tmp/log 2>&1 &), or end everything with sandbox::stop and create another sandbox.',
    message: (d: { id: string; cap: number }) => `sandbox ${d.id} is at its exec concurrency cap (${d.cap})`,
  }),
  S004: row({
    ...sFailures.S004,
    type: 'validation',
    note: GONE,
    message: (d: { id: string; ended?: string | undefined }) =>
      `sandbox already stopped: ${d.id}${d.ended === undefined ? '' : ` (${d.ended})`}`,
  }),
  S100: row({
    ...sFailures.S100,
    type: 'config',
    note: 'Use one of the images that the message lists, or let the operator add it to custom_images and image_allowlist.',
    message: (d: { image: string; allowed: string[] }) =>
      `image '${d.image}' not in catalog; ` +
      (d.allowed.length === 0 ? 'no image is allowed' : `allowed: ${d.allowed.join(', ')}`),
    fix: (d) => (d.allowed.length === 1 ? { image: d.allowed[0] } : undefined),
  }),
  S101: row({
    ...sFailures.S101,
    type: 'internal',
    note: 'The operator must fetch it first: workcell sandbox pull <image>.',
    message: (d: { image: string }) =>
      `rootfs missing on disk for image '${d.image}'; run workcell sandbox pull ${d.image}`,
  }),
  S102: row({
    ...sFailures.S102,
    type: 'transient',
    note: 'Try again after a pause; the work on an image continues meanwhile.',
    message: (d: { image: string; problem: string } | { image: string; progress: string }) =>
      'progress' in d
        ? `image '${d.image}' is being built (${d.progress}); call again`
        : `auto-install failed for image '${d.image}': ${d.problem}`,
  }),
  S200: row({
    ...sFailures.S200,
    type: 'execution',
    note: 'Raise timeout_ms, or split the work.',
    message: (d: { timeoutMs: number; askedMs: number; output: PartialOutput }) =>
      `exec timed out after ${d.timeoutMs} ms` +
      (d.timeoutMs < d.askedMs ? `: max_exec_timeout_ms of the configuration (${d.askedMs} were asked for)` : ''),
    extra: (d) => ({ ...d.output, ...(d.timeoutMs < d.askedMs && { fix_note: CAPPED }) }),
  }),
  S210: row({
    ...sFailures.S210,
    type: 'filesystem',
    note: 'The message says what is not possible and what to request instead.',
  }),
  S211: row({
    ...sFailures.S211,
    type: 'filesystem',
    message: (d: { path: string; parent?: string; meant?: string }) =>
      d.parent === undefined
        ? `file not found: path not found: ${d.path}${d.meant === undefined ? '' : `; did you mean ${d.meant}?`}`
        : `parent directory not found: parent not found: ${d.parent}`,
    fix: (d) => (d.parent === undefined ? undefined : { parents: true }),
    note: 'Paths are absolute inside the sandbox; sandbox::fs::ls of a directory above shows what is there.',
  }),
  S212: row({
    ...sFailures.S212,
    type: 'filesystem',
    note: 'Call sandbox::fs::stat to see what is at the path.',
    message: (d: { path: string }) => `not a directory or wrong type: ${d.path}`,
  }),
  S213: row({
    ...sFailures.S213,
    type: 'filesystem',
    note: 'Use another path, or allow it: overwrite: true for mv, parents: true for mkdir.',
    message: (d: { path: string }) => `already exists: ${d.path}`,
  }),
  S214: row({
    ...sFailures.S214,
    type: 'filesystem',
    message: (d: { path: string }) => `directory not empty: ${d.path}`,
    fix: () => ({ recursive: true }),
    note: 'Remove its contents first, or set recursive: true to delete everything below.',
  }),
  S215: row({
    ...sFailures.S215,
    type: 'filesystem',
    note: 'Use a path that the user of the image may change, such as one below /tmp.',
    message: (d: { path: string }) => `permission denied: ${d.path}`,
  }),
  S216: row({
    ...sFailures.S216,
    type: 'filesystem',
    note: 'The message says what failed. If the sandbox itself is broken, create another with sandbox::create.',
    message: (d: { problem: string }) => `fs i/o error: ${d.problem}`,
  }),
  S217: row({
    ...sFailures.S217,
    type: 'filesystem',
    note: 'Patterns are regular expressions without look-around and back-references; sed takes plain text with regex: false.',
    message: (d: { problem: string }) => `invalid regex pattern: ${d.problem}`,
  }),
  S218: row({
    ...sFailures.S218,
    type: 'transient',
    note: 'Send the file again, through a new channel.',
    message: (d: { problem: string }) => `fs channel aborted: ${d.problem}`,
  }),
  S219: row({
    ...sFailures.S219,
    type: 'filesystem',
    note: 'The agent in this sandbox is older than the server: create another with sandbox::create.',
  }),
  S220: row({
    ...sFailures.S220,
    type: 'validation',
    note: 'Use the id that sandbox::exec_bg returned; sandbox::jobs lists those that run or have ended lately.',
  }),
  S221: row({
    ...sFailures.S221,
    type: 'execution',
    fix: () => ({ input: true }),
    note: 'Start it with input: true in sandbox::exec_bg.',
  }),
  S222: row({
    ...sFailures.S222,
    type: 'platform',
    note: 'A sandbox has 64 terminals: end a job that has one, or start this one with input: true instead of a terminal.',
  }),
  S223: row({
    ...sFailures.S223,
    type: 'validation',
    note: 'Use `next` of the last answer as `since`.',
  }),
  S224: row({
    ...sFailures.S224,
    type: 'transient',
    note: 'Read with sandbox::output, or try again when another caller has left.',
  }),
  S225: row({
    ...sFailures.S225,
    type: 'validation',
    note: 'Leave `signal` out to kill it.',
  }),
  S300: row({
    ...sFailures.S300,
    type: 'platform',
    note: PLATFORM,
    message: (d: { problem: string } | { host: string; note: string }) =>
      'host' in d ? `host ${d.host}` : `VM boot failed: ${d.problem}`,
    extra: (d) => ('note' in d ? { fix_note: d.note } : {}),
  }),
  S400: row({
    ...sFailures.S400,
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
