/**
 * shell::exec_bg: starts a command and returns the id of its job at once.
 *
 * On the host it runs until it ends or is killed, whatever `timeout_ms` is. A sandbox gives every command a timeout.
 */
import { z } from 'zod';

import type { CallScope } from '#contract';
import { SpawnError, type Layers, type OpenLayer, type OutputRing } from '#host';
import { ringBytes, TerminalSize, type BackgroundJob, type JobWork } from '#job-functions';
import { hasInput, startCommand, timeoutOf, toCommand } from '../command.ts';
import { refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import { isFenced } from '../fenced-command.ts';
import { inOwnLayer, ownLayerFor, record, type Recording } from '../own-layer.ts';
import { CommitAtEnd } from '../commit-at-end.ts';
import { shell, type ShellContext } from '../worker.ts';

const Request = execRequest('ExecBgRequest', {
  input: z.boolean().nullish().describe('Keep its standard input open for shell::input and shell::attach. Host only.'),
  terminal: TerminalSize.nullish().describe(
    'Run it in a terminal of this size instead of pipes; implies `input`, and both streams are one. Host only.',
  ),
  ring_bytes: ringBytes,
  record: z
    .boolean()
    .nullish()
    .describe(
      'Make coder::undo cover the job: its files appear in the workspace when it ends, and not at all if it is killed. Host only.',
    ),
  label: z.string().max(1000).nullish().describe('Label that lists of jobs show instead of its words.'),
});

export const execBg = shell.defineFunction({
  id: 'shell::exec_bg',
  summary:
    'Start an allowed program in the background and return its job id; shell::output reads its output and waits.',
  details:
    'A host job is not bound by timeout_ms. Its id is the only key to its words and output. It ends with the worker, ' +
    'and is forgotten job_retention_secs after its end, or earlier when ended jobs hold too much output.',
  effect: 'execute',
  permissions: ['process.run'],
  subject: { program: 'command', line: 'script' },
  request: Request,
  response: z
    .object({ job_id: z.string(), argv: z.array(z.string()).describe('Program and arguments.') })
    .meta({ title: 'ExecBgResponse' }),
  reads: { line: ['command', 'args', 'script'] },
  errors: ['invocation_failed', 'S210', 'S211', 'S212', 'S215', 'S216', 'S222', 'S226'],
  examples: [{ command: 'ls', args: ['-la'] }],

  async handle(request, context, scope) {
    const use = ownLayerFor({ ...request, record: request.record ?? false }, context);
    if (use === undefined) return replyOf(await start(request, context, scope));
    if (use === 'thrown-away') {
      const own = { isFenced: true, note: 'a job with fence: change' };
      return await inOwnLayer(context, own, async (inner) => replyOf(await start(request, inner, scope)));
    }
    const taking = new CommitAtEnd();
    let job: BackgroundJob | undefined;
    const atEnd = (layer: OpenLayer, layers: Layers) =>
      taking.take(layer.name, async ({ exitCode, signal, timedOut }) => {
        // Whether it ended by itself, with any exit code: a killed job may have left a file half written.
        if (!job || job.status === 'killed' || timedOut || signal !== null || exitCode === null) return;
        await record({ layer, layers, words: job.argv }, afterCall(scope));
      });
    const own = { isFenced: isFenced(request, context), note: 'a recorded job', atEnd };
    return await inOwnLayer(context, own, async (inner) => {
      job = await start(request, inner, scope, (work, ring) => taking.around(work, ring));
      return replyOf(job);
    });
  },
});

function replyOf({ id, argv }: BackgroundJob): { job_id: string; argv: string[] } {
  return { job_id: id, argv: [...argv] };
}

/** The scope after the call was answered: no caller can cancel it or waits for its changes. */
function afterCall({ call, functionId }: CallScope): Recording {
  return { call, functionId, signal: new AbortController().signal };
}

async function start(
  request: z.output<typeof Request>,
  context: ShellContext,
  scope: CallScope,
  around: (work: JobWork, ring: OutputRing) => JobWork = (work) => work,
): Promise<BackgroundJob> {
  const command = await toCommand(request, context, scope);
  const timeoutMs = command.kind === 'host' ? undefined : timeoutOf(request, context);
  const asked = {
    argv: command.argv,
    runsOn: command.kind,
    hasInput: hasInput(request),
    terminal: request.terminal ?? undefined,
    ringBytes: request.ring_bytes ?? undefined,
    caller: scope.call.principal,
    label: request.label ?? undefined,
  };
  return await context.jobs.start(asked, async (ring) => {
    try {
      return around(await startCommand(command, { timeoutMs, ring }, context, scope.bus), ring);
    } catch (error) {
      if (!(error instanceof SpawnError)) throw error;
      throw refuse(`spawn: ${error.message}`, error);
    }
  });
}
