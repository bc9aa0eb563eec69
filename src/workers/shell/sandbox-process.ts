/**
 * A command in a sandbox as a process, through sandbox::exec on the bus.
 *
 * Its output comes through a channel, so a slow reader blocks the command as on the host; a worker that does not know
 * such channels sends it with the answer. sandbox::exec enforces the timeout and reports it as a failure; here it is an
 * answer, as on the host.
 */
import { setTimeout as passed } from 'node:timers/promises';

import { z } from 'zod';

import { CallError, Failure, type Bus } from '#contract';
import type { OutputPiece, Process, ProcessEnd } from '#host';
import { ChannelBroken, type ChannelReader, type ChannelRef } from '#protocol';
import type { Command } from './command.ts';
import { errors, type ShellCode } from './errors.ts';
import { forwardToSandbox, readReply } from './target.ts';

/** The codes of sandbox::exec that are passed on. */
export const SANDBOX_EXEC_CODES = [
  'S001',
  'S002',
  'S003',
  'S004',
  'S100',
  'S101',
  'S102',
  'S200',
  'S210',
  'S216',
  'S300',
  'S400',
] as const satisfies ShellCode[];

const TIMEOUT_CODE = 'S200' satisfies ShellCode;

/** How much longer than the command the answer may take before the sandbox counts as unresponsive. */
const ANSWER_GRACE_MS = 10_000;

/** Time for output that is still in the channel when the command failed or its worker stopped answering. */
const OUTPUT_GRACE_MS = 1_000;

/** How much of an unexpected item the error shows. */
const SHOWN_CHARS = 100;

export const egressRefused = z
  .array(z.object({ host: z.string(), reason: z.string().describe('Reason and alternative.') }))
  .optional()
  .describe('In a sandbox or the fence: hosts that were refused while this ran; absent if there were none.');

const Reply = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int().nullish(),
  duration_ms: z.number().min(0),
  timed_out: z.boolean(),
  stdout_truncated: z.boolean().default(false),
  stderr_truncated: z.boolean().default(false),
  egress_refused: egressRefused,
  streamed: z.literal(true).optional(),
});

/** A text item of the channel: standard error. */
const ErrorItem = z.object({ t: z.literal('err'), base64: z.base64() });

/** Result of sandbox::exec; `reply` is absent after a timeout. */
interface Answer {
  reply?: z.output<typeof Reply>;
  /** Whether all output went through the channel. */
  isStreamed: boolean;
}

type SandboxCommand = Extract<Command, { kind: 'sandbox' }>;

export class SandboxProcess implements Process {
  readonly output: AsyncIterable<OutputPiece>;
  readonly done: Promise<ProcessEnd>;
  /** Hosts that the command was refused; known after its end. */
  refused: z.output<typeof egressRefused>;
  readonly #killing = new AbortController();

  /** `isWatched`: whether its output is read before its end. */
  constructor(bus: Bus, command: SandboxCommand, { timeoutMs, isWatched }: { timeoutMs: number; isWatched: boolean }) {
    const channel = isWatched ? openChannel(bus) : Promise.resolve(undefined);
    const answer = channel.then((ends) => this.#call(bus, command, timeoutMs, ends?.output));
    this.done = answer.then(({ reply }) => this.#end(reply, timeoutMs));
    this.output = pieces(channel, answer);
  }

  /**
   * The sandbox answers when all processes of the command have ended. A worker without cancel answers at the timeout.
   */
  async signal(): Promise<void> {
    this.#killing.abort();
    await this.done.catch(() => {});
  }

  async #call(
    bus: Bus,
    { argv: [cmd, ...args], sandboxId }: SandboxCommand,
    timeoutMs: number,
    output: ChannelRef | undefined,
  ): Promise<Answer> {
    const payload = { sandbox_id: sandboxId, cmd, args, timeout_ms: timeoutMs, ...(output && { output }) };
    const call = {
      functionId: 'sandbox::exec',
      payload,
      keeps: SANDBOX_EXEC_CODES,
      timeoutCode: TIMEOUT_CODE,
    } as const;
    const options = { timeoutMs: timeoutMs + ANSWER_GRACE_MS, cancel: this.#killing.signal };
    try {
      const reply = readReply(Reply, await forwardToSandbox(bus, call, options), call.functionId);
      return { reply, isStreamed: reply.streamed === true };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== TIMEOUT_CODE) throw error;
      return { isStreamed: error.cause instanceof CallError && error.cause.extra.streamed === true };
    }
  }

  #end(reply: z.output<typeof Reply> | undefined, timeoutMs: number): ProcessEnd {
    if (!reply) return { exitCode: null, signal: null, durationMs: timeoutMs, timedOut: true };
    this.refused = reply.egress_refused;
    return {
      exitCode: reply.exit_code ?? null,
      signal: null,
      durationMs: reply.duration_ms,
      timedOut: reply.timed_out,
      printed: { stdout: Buffer.from(reply.stdout), stderr: Buffer.from(reply.stderr) },
      dropped: { stdout: reply.stdout_truncated, stderr: reply.stderr_truncated },
    };
  }
}

/** Undefined if it cannot be opened: then the output comes with the answer. */
async function openChannel(bus: Bus): Promise<{ items: ChannelReader; output: ChannelRef } | undefined> {
  try {
    const { reader, writer } = await bus.createChannel();
    return { items: await bus.openReader(reader), output: writer };
  } catch {
    return undefined;
  }
}

async function* pieces(
  channel: ReturnType<typeof openChannel>,
  answer: Promise<Answer>,
): AsyncGenerator<OutputPiece, void> {
  const items = (await channel)?.items;
  if (items) yield* streamedPieces(items, answer);
  const { reply, isStreamed } = await answer;
  if (!reply || isStreamed) return;
  yield { stream: 'stdout', bytes: Buffer.from(reply.stdout) };
  yield { stream: 'stderr', bytes: Buffer.from(reply.stderr) };
}

/**
 * Ends without an error when the channel breaks: the answer has the reason, or the first output of each stream. Jobs and
 * channels of callers then lack the rest of the output, whose size is not known.
 */
async function* streamedPieces(items: ChannelReader, answer: Promise<Answer>): AsyncGenerator<OutputPiece, void> {
  let hasBegun = false;
  // A worker that did not write to the channel, or that stalls, does not close it either.
  const leave = async () => {
    if (hasBegun) await passed(OUTPUT_GRACE_MS, undefined, { ref: false });
    items.cancel();
  };
  answer.then(({ isStreamed }) => (isStreamed ? undefined : leave()), leave);
  try {
    for await (const item of items) {
      hasBegun = true;
      if (typeof item !== 'string')
        yield { stream: 'stdout', bytes: Buffer.from(item.buffer, item.byteOffset, item.length) };
      else yield { stream: 'stderr', bytes: readErrorItem(item) };
    }
  } catch (error) {
    if (!(error instanceof ChannelBroken)) throw error;
  }
}

/** The bytes of standard error. */
function readErrorItem(item: string): Buffer {
  try {
    return Buffer.from(ErrorItem.parse(JSON.parse(item)).base64, 'base64');
  } catch (error) {
    const shown = JSON.stringify(item.length > SHOWN_CHARS ? `${item.slice(0, SHOWN_CHARS)}…` : item);
    const problem =
      `the worker of sandbox::exec sent ${shown} through the output channel, which takes bytes, and text such as ` +
      '{"t":"err","base64":"b29wcwo="}: update that worker';
    throw errors.fail('S216', { problem }, error);
  }
}
