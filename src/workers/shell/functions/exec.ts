/**
 * shell::exec: runs one command to its end and returns its output.
 *
 * A command that fails is an answer, not a failure. When the caller goes away the command is killed, unless it has
 * become a background job.
 */
import { z } from 'zod';

import { COMMAND_NOTES, wire, type CallScope } from '#contract';
import type { Execution, ExecutionResult, OutputSoFar, Process } from '#host';
import { liveAnswer, liveFields, OutputEvent, runLive, type LiveOutcome } from '#job-functions';
import { startCommand, timeoutOf, toCommand } from '../command.ts';
import { errors, refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import { isFenced } from '../fenced-command.ts';
import { inOwnLayer, ownLayerFor, record } from '../own-layer.ts';
import { egressRefused, SANDBOX_EXEC_CODES, SandboxProcess } from '../sandbox-process.ts';
import { shell, type ShellContext } from '../worker.ts';

/** The command's own timeout is the deadline; this only has to be longer. */
const NO_DEADLINE_MS = 2_147_483_647;

const Request = execRequest('ExecRequest', {
  ...liveFields({ cap: 'max_timeout_ms', limit: 'default_timeout_ms' }),
  record: z
    .boolean()
    .nullish()
    .describe(
      'Make coder::undo cover the command: its files appear in the workspace when it ends, and not at all if it times out. Host only.',
    ),
});

const Response = z
  .object({
    exit_code: wire.int32().nullish().describe('null when the command timed out or a signal ended it.'),
    stdout: z.string().describe('The first max_output_bytes bytes; invalid UTF-8 becomes U+FFFD.'),
    stderr: z.string().describe('The same for standard error.'),
    duration_ms: wire.uint64(),
    timed_out: z.boolean(),
    stdout_truncated: z.boolean().describe('Whether there was more output than is kept.'),
    stderr_truncated: z.boolean(),
    egress_refused: egressRefused,
    recorded: z
      .object({ seq: wire.uint64().optional(), files: wire.uint64() })
      .optional()
      .describe('With `record`: the record for coder::undo, and the number of changed files.'),
    ...liveAnswer,
  })
  .meta({ title: 'ExecResponse' });

export const exec = shell.defineFunction({
  id: 'shell::exec',
  summary: 'Run an allowed program to its end and return its output. Program in `command`, arguments in `args`.',
  details:
    'There is no shell in between: nothing is expanded, piped or redirected; inside the fence any program runs, and `script` is a line for a shell. Whatever the command left running is ' +
    'killed with it. Callers that take events get the output as it comes. Without the fence this is not an isolation boundary; target a sandbox for code you do not trust.',
  effect: 'execute',
  permissions: ['process.run'],
  subject: { program: 'command', line: 'script' },
  request: Request,
  response: Response,
  events: OutputEvent,
  reads: { line: ['command', 'args', 'script'], notes: [{ field: 'job_id', says: 'continues' }, ...COMMAND_NOTES] },
  errors: ['invocation_failed', 'S211', 'S212', 'S215', 'S226', ...SANDBOX_EXEC_CODES],
  examples: [{ command: 'echo', args: ['hello'] }, { command: 'ls -la' }],
  deadlineMs: NO_DEADLINE_MS,

  async handle(request, context, scope) {
    const use = ownLayerFor(request, context);
    if (use === undefined) return await runCommand(request, context, scope);
    if (use === 'recorded' && request.background_after_ms != null) {
      throw errors.fail('S210', {
        problem:
          'background_after_ms cannot be combined with recording, which record: true or record_commands of the configuration sets; send record: false, or leave background_after_ms out',
      });
    }
    const isPrivate = use === 'thrown-away' || isFenced(request, context);
    const note = use === 'recorded' ? 'a recorded command' : 'a command with fence: change';
    return await inOwnLayer(context, { isFenced: isPrivate, note }, async (inner, layer, layers) => {
      const reply = await runCommand(request, inner, scope);
      const hasEnded = reply.exit_code != null && !reply.timed_out;
      if (use === 'thrown-away' || !hasEnded) return reply;
      scope.throwIfAborted();
      const words = [request.command, ...(request.args ?? []), request.script ?? ''].filter((word) => word !== '');
      return { ...reply, recorded: await record({ layer, layers, words }, scope) };
    });
  },
});

async function runCommand(
  request: z.output<typeof Request>,
  context: ShellContext,
  scope: CallScope,
): Promise<z.input<typeof Response>> {
  const command = await toCommand(request, context, scope);
  const { foreground } = context;
  if (foreground.count >= foreground.max) {
    throw refuse(`max concurrent commands (${foreground.max}) reached, try again when some have ended`);
  }

  foreground.count += 1;
  try {
    const { argv, kind: runsOn } = command;
    const { output, background_after_ms, timeout_ms } = request;
    const backgroundAfterMs =
      background_after_ms == null ? undefined : Math.min(background_after_ms, context.maxTimeoutMs);
    const isUnlimited = backgroundAfterMs !== undefined && timeout_ms === null && runsOn === 'host';
    const limits = { timeoutMs: isUnlimited ? undefined : timeoutOf(request, context), signal: scope.signal };
    const asked = { argv, runsOn, output, backgroundAfterMs };
    const isInside = command.kind === 'host' && command.spec.launch !== undefined;
    const refusals = isInside ? context.fence.around.watchRefusals() : undefined;
    const outcome = await runLive(asked, { jobs: context.jobs, scope }, (readers) =>
      startCommand(command, { ...limits, ...readers }, context, scope.bus),
    );
    const { execution, streamed } = outcome;
    const reply = 'job' in outcome ? toJobResponse(outcome) : toResponse(outcome.result, outcome.result);
    const refused = refusedBy(execution.process) ?? (await refusals?.());
    return { ...reply, ...(refused?.length && { egress_refused: refused }), ...(streamed && { streamed }) };
  } finally {
    foreground.count -= 1;
  }
}

function refusedBy(process: Process): SandboxProcess['refused'] {
  return process instanceof SandboxProcess ? process.refused : undefined;
}

type End = Pick<ExecutionResult, 'exitCode' | 'durationMs' | 'timedOut'>;

function toResponse(output: OutputSoFar, { exitCode, durationMs, timedOut }: End): z.input<typeof Response> {
  return {
    exit_code: exitCode,
    stdout: output.stdout.toString(),
    stderr: output.stderr.toString(),
    duration_ms: Math.round(durationMs),
    timed_out: timedOut,
    stdout_truncated: output.stdoutTruncated,
    stderr_truncated: output.stderrTruncated,
  };
}

/** The answer for a command that became a job: its output so far. */
function toJobResponse({
  execution,
  job,
}: Extract<LiveOutcome<Execution>, { job: unknown }>): z.input<typeof Response> {
  const end = { exitCode: null, durationMs: Date.now() - job.startedAtMs, timedOut: false };
  return { ...toResponse(execution.outputSoFar(), end), job_id: job.id, next: job.ring.end };
}
