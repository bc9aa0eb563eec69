/**
 * A command in a sandbox as a process, through sandbox::exec on the bus.
 *
 * Its output comes with the answer, all at once. sandbox::exec enforces the timeout and reports it as a failure; here
 * it is an answer, as on the host.
 */
import { z } from 'zod';

import { Failure, type Bus } from '#contract';
import type { OutputPiece, Process, ProcessEnd } from '#host';
import type { Command } from './command.ts';
import type { ShellCode } from './errors.ts';
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

export const egressRefused = z
  .array(z.object({ host: z.string(), reason: z.string().describe('Why, and what to use instead.') }))
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
});

export class SandboxProcess implements Process {
  readonly output: AsyncIterable<OutputPiece>;
  readonly done: Promise<ProcessEnd>;
  /** Hosts that the command was refused; known after its end. */
  refused: z.output<typeof egressRefused>;
  readonly #killing = new AbortController();
  readonly #reply: Promise<z.output<typeof Reply> | undefined>;

  constructor(bus: Bus, command: Extract<Command, { kind: 'sandbox' }>, { timeoutMs }: { timeoutMs: number }) {
    this.#reply = this.#call(bus, command, timeoutMs);
    this.done = this.#reply.then((reply) => this.#end(reply, timeoutMs));
    this.output = this.#pieces();
  }

  /**
   * The sandbox answers when all processes of the command have ended. A worker without cancel answers at the timeout.
   */
  async signal(): Promise<void> {
    this.#killing.abort();
    await this.done.catch(() => {});
  }

  /** Undefined after a timeout. */
  async #call(
    bus: Bus,
    { argv: [cmd, ...args], sandboxId }: Extract<Command, { kind: 'sandbox' }>,
    timeoutMs: number,
  ): Promise<z.output<typeof Reply> | undefined> {
    const payload = { sandbox_id: sandboxId, cmd, args, timeout_ms: timeoutMs };
    const call = {
      functionId: 'sandbox::exec',
      payload,
      keeps: SANDBOX_EXEC_CODES,
      timeoutCode: TIMEOUT_CODE,
    } as const;
    const options = { timeoutMs: timeoutMs + ANSWER_GRACE_MS, cancel: this.#killing.signal };
    try {
      return readReply(Reply, await forwardToSandbox(bus, call, options));
    } catch (error) {
      if (error instanceof Failure && error.code === TIMEOUT_CODE) return undefined;
      throw error;
    }
  }

  async *#pieces(): AsyncGenerator<OutputPiece> {
    const reply = await this.#reply;
    if (!reply) return;
    yield { stream: 'stdout', bytes: Buffer.from(reply.stdout) };
    yield { stream: 'stderr', bytes: Buffer.from(reply.stderr) };
  }

  #end(reply: z.output<typeof Reply> | undefined, timeoutMs: number): ProcessEnd {
    if (!reply) return { exitCode: null, signal: null, durationMs: timeoutMs, timedOut: true };
    this.refused = reply.egress_refused;
    return {
      exitCode: reply.exit_code ?? null,
      signal: null,
      durationMs: reply.duration_ms,
      timedOut: reply.timed_out,
      dropped: { stdout: reply.stdout_truncated, stderr: reply.stderr_truncated },
    };
  }
}
