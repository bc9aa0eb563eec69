/**
 * agent::run: runs a command line, and answers with its output or with a job.
 *
 * A timeout never kills a command: after `timeout_s` it continues as a job. It is killed when its caller cancels.
 */
import { z } from 'zod';

import { CallError, wire, type CallScope } from '#contract';
import { toShellRequest } from '../commands/command-line.ts';
import { waitForJob, type JobState } from '../commands/job-output.ts';
import { becauseOf, JOB_NOTES, jobFields, jobReply, jobText, withLost } from '../commands/job-text.ts';
import { shortened } from '../shortened.ts';
import { agent } from '../worker.ts';

const DEADLINE_MS = 660_000;
const MAX_WAIT_S = 600;
/** How long to wait for a background command with a wait condition. */
const UNTIL_S = 30;

const Started = z.object({ job_id: z.string() });

export const run = agent.defineFunction({
  id: 'agent::run',
  summary:
    'Run a bash command line in the workspace. Long output is shortened and kept for `output`. After timeout_s, or with background, it becomes a job.',
  effect: 'execute',
  permissions: ['process.run'],
  subject: { line: 'command' },
  calls: ['shell::exec_bg', 'shell::output', 'shell::kill'],
  deadlineMs: DEADLINE_MS,
  request: z.object({
    command: z.string().min(1).describe('A bash line.'),
    cwd: z.string().optional().describe('Folder in the workspace.'),
    timeout_s: wire.uint32().min(1).max(MAX_WAIT_S).default(120).describe('Seconds.'),
    background: z.boolean().optional().describe('Run as a job at once, such as a server.'),
    until: z
      .object({
        port: wire.uint32().min(1).max(65_535).optional(),
        text: z.string().optional().describe('Regex over the output.'),
      })
      .optional()
      .describe('In the background: answer when the port is open or the output matches.'),
  }),
  response: z.object(jobFields),
  reads: { line: ['command'], notes: JOB_NOTES },
  errors: ['A210', 'A211', 'A215', 'A216'],
  examples: [{ command: 'echo hello' }, { command: 'ls -la | head -5', timeout_s: 10 }],

  async handle({ command, cwd, timeout_s, until, background = until !== undefined }, context, scope) {
    const session = context.sessions.of(scope.call);
    const request = toShellRequest({ command, cwd, hasInput: background }, context);
    const { job_id: jobId } = Started.parse(await scope.bus.call('shell::exec_bg', request));
    const waitS = !background ? timeout_s : until ? Math.min(timeout_s, UNTIL_S) : 0;
    const state = await orKill(jobId, scope, () => {
      return waitForJob(jobId, { since: 0, waitMs: waitS * 1000, until: background ? until : undefined }, scope);
    });
    if (state.status === 'running' || background) {
      const because = state.status === 'running' ? becauseOf(state, waitS) : 'it has ended';
      return jobReply(session.addJob(jobId, command), state, { because, session, replyChars: context.replyChars });
    }
    const text = withLost(state);
    return {
      status: state.status,
      ...(state.exitCode !== undefined && { exit_code: state.exitCode }),
      output: shortened(text, { maxChars: context.replyChars, keep: () => session.keepOutput(text) }),
    };
  },

  text(reply) {
    const { job, status, exit_code, output } = reply;
    if (job !== undefined) return jobText(reply);
    const head = exit_code === 0 ? [] : [exit_code === undefined ? status : `exit ${exit_code}`];
    return [...head, ...(output === '' ? (exit_code === 0 ? ['(no output)'] : []) : [output])].join('\n');
  },
});

/** Kills the job if the caller disconnects before it gets the id; nothing else could kill it then. */
async function orKill(jobId: string, { bus, signal }: CallScope, wait: () => Promise<JobState>): Promise<JobState> {
  try {
    return await wait();
  } catch (error) {
    if (signal.aborted || error instanceof CallError) await bus.call('shell::kill', { job_id: jobId }).catch(() => {});
    throw error;
  }
}
