/** agent::job: new output of a job, after a wait or an input, or its end. */
import { z } from 'zod';

import { wire } from '#contract';
import { waitForJob } from '../commands/job-output.ts';
import { becauseOf, JOB_NOTES, JobReply, jobReply, jobText } from '../commands/job-text.ts';
import { agent } from '../worker.ts';

const DEADLINE_MS = 660_000;
const MAX_WAIT_S = 600;
/** How long a program may take to start its answer to an input; a short pause ends the answer. */
const ANSWER_S = 5;
const QUIET_MS = 200;
const UNTIL_S = 30;

const Typed = z.object({ next: z.int() });

export const job = agent.defineFunction({
  id: 'agent::job',
  summary: 'Read new output of a job; wait for its end, a port or a text; write to it; or stop it.',
  effect: 'execute',
  permissions: ['process.run'],
  calls: ['shell::output', 'shell::input', 'shell::kill'],
  deadlineMs: DEADLINE_MS,
  request: z.object({
    id: z.string().describe('Like j1.'),
    wait_s: wire.uint32().max(MAX_WAIT_S).optional(),
    until: z.object({ port: wire.uint32().min(1).max(65_535).optional(), text: z.string().optional() }).optional(),
    input: z.string().optional().describe('Text for its standard input.'),
    stop: z.boolean().optional(),
  }),
  response: JobReply,
  reads: { line: ['id'], notes: JOB_NOTES },
  errors: ['A210', 'A216', 'A224'],
  examples: [],

  async handle({ id, wait_s, until, input, stop = false }, context, scope) {
    const session = context.sessions.of(scope.call);
    const known = session.job(id);
    const about = { session, replyChars: context.replyChars };
    const { bus } = scope;
    const isAnswer = input !== undefined && until === undefined && wait_s === undefined;
    if (input !== undefined) {
      const { next } = Typed.parse(await bus.call('shell::input', { job_id: known.jobId, text: input }));
      const answer = { since: next, waitMs: ANSWER_S * 1000, until: { text: '.' } };
      if (isAnswer) await waitForJob(known.jobId, answer, scope);
    }
    if (stop) await bus.call('shell::kill', { job_id: known.jobId });
    const waitS = stop ? 0 : (wait_s ?? (isAnswer ? ANSWER_S : until ? UNTIL_S : 0));
    const wait = { since: known.seen, waitMs: waitS * 1000, until: isAnswer ? { idleMs: QUIET_MS } : until };
    const state = await waitForJob(known.jobId, wait, scope);
    const because = stop && state.status !== 'running' ? 'nothing of it runs' : becauseOf(state, waitS);
    return jobReply(known, state, { ...about, because });
  },

  text: jobText,
});
