/** Converts a requested command to the form that the guest gets. */
import type { TerminalSize } from '#job-functions';
import { ALL_OUTPUT, type GuestCommand } from '#sandbox/guest';
import { isBase64 } from '../base64.ts';
import { mergeEnv, type Env } from '../environment.ts';
import { errors } from '../errors.ts';
import type { LiveSandbox } from '../live/live-sandbox.ts';
import { requireSendable } from './command.ts';
import type { WantedCommand } from './command-fields.ts';

/** Bytes kept of each stream for the answer; the rest is dropped. */
export const MAX_OUTPUT_BYTES = 1_048_576;

/** TERM for programs, if the call does not set it. */
const TERMINAL_TYPE: Env = [['TERM', 'xterm-256color']];

interface Ways {
  readonly hasInput: boolean;
  /** Whether all output is wanted, not only the part that fits into the answer. */
  readonly isStreamed: boolean;
  /** Whether it is a job, or may become one. */
  readonly isFollowed: boolean;
  readonly terminal?: TerminalSize | undefined;
}

/** Refuses a command that no program can be given. */
export function guestCommand(
  { facts }: LiveSandbox,
  { argv, env, workdir }: WantedCommand,
  { hasInput, isStreamed, isFollowed, terminal }: Ways,
): GuestCommand {
  const merged = mergeEnv(facts.env, terminal ? TERMINAL_TYPE : [], env);
  requireSendable([...argv, ...merged.flat()], 'the command with its environment');
  return {
    argv,
    env: merged,
    cwd: workdir ?? facts.workdir,
    uid: facts.user.uid,
    gid: facts.user.gid,
    hasInput,
    isFollowed,
    maxOutputBytes: isStreamed ? ALL_OUTPUT : MAX_OUTPUT_BYTES,
    ...(terminal && { terminal: { columns: terminal.cols, rows: terminal.rows } }),
  };
}

export function decodeStdin(stdin: string | null): Buffer | undefined {
  if (stdin === null || stdin === '') return undefined;
  if (!isBase64(stdin)) {
    throw errors.fail('S001', { problem: 'stdin is not valid base64; encode the bytes, as in "aGkK"' });
  }
  return Buffer.from(stdin, 'base64');
}
