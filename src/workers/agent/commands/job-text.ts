/** A job as its caller reads it: one line of state, then the output that is new. */
import { z } from 'zod';

import { wire, type Reads } from '#contract';
import { shortened } from '../shortened.ts';
import type { Session, SessionJob } from '../session.ts';
import type { JobState } from './job-output.ts';

/** Share of a reply for one job, because a job is read many times. */
const JOB_SHARE = 0.35;

export const JOB_NOTES: Reads['notes'] = [
  { field: 'status', is: 'running', says: 'continues' },
  { field: 'status', is: 'killed', says: 'killed' },
  { field: 'exit_code', says: 'exit {}' },
  { field: 'status', is: 'failed', says: 'killed' },
];

export const jobFields = {
  job: z.string().optional().describe('Handle of the job, if the command became one.'),
  status: z.enum(['running', 'finished', 'killed', 'failed']),
  exit_code: wire.int32().optional().describe('Absent while it runs, and if a signal ended it.'),
  output: z.string().describe('New output of both streams, shortened if it is long.'),
  because: z.string().optional().describe('Event that ended the wait.'),
};

export const JobReply = z.object(jobFields);

/** The reply about a job of the session; output that was shown before is left out. */
export function jobReply(
  job: SessionJob,
  state: JobState,
  { because, session, replyChars }: { because?: string | undefined; session: Session; replyChars: number },
): z.input<typeof JobReply> {
  job.seen = state.next;
  const text = withLost(state);
  return {
    job: job.handle,
    status: state.status,
    ...(state.exitCode !== undefined && { exit_code: state.exitCode }),
    output: shortened(text, { maxChars: replyChars * JOB_SHARE, keep: () => session.keepOutput(text) }),
    ...(because !== undefined && { because }),
  };
}

export function withLost({ lost, text }: Pick<JobState, 'lost' | 'text'>): string {
  return lost > 0 ? `(${lost} bytes before this are no longer kept)\n${text}` : text;
}

export function becauseOf({ matched }: JobState, waitS: number): string | undefined {
  if (matched?.by === 'port') return 'the port is open';
  if (matched?.by === 'pattern') return `output matches: ${(matched.line ?? '').trim().slice(0, 200)}`;
  return matched?.by === 'timeout' ? `still running after ${waitS} s` : undefined;
}

export function jobText({ job, status, exit_code, output, because }: z.input<typeof JobReply>): string {
  const end = exit_code === undefined ? '' : `, exit ${exit_code}`;
  const head = `${job}: ${status}${end}${because === undefined ? '' : ` (${because})`}`;
  return output === '' ? head : `${head}\n${output}`;
}
