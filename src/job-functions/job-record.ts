/** A background job as returned to callers: the whole record to a caller with its id, a summary to all. */
import { z } from 'zod';

import { CallerRefSchema, wire } from '#contract';

export const JobStatus = wire.named(
  'JobStatus',
  z
    .enum(['running', 'finished', 'killed', 'failed'])
    .describe(
      'finished: exit code 0. failed: another exit code, a signal that no call sent, or an error. ' +
        'killed: by a call, by its timeout, or with its sandbox.',
    ),
);
export type JobStatus = z.output<typeof JobStatus>;

const summaryFields = {
  id: z.string(),
  sandbox_id: z.string().optional().describe('The sandbox that it runs in, for jobs of sandbox::exec_bg.'),
  started_at_ms: wire.uint64().describe('Milliseconds since 1970.'),
  finished_at_ms: wire.uint64().nullish().describe('null while it runs.'),
  status: JobStatus,
  exit_code: wire.int32().nullish().describe('null while it runs, and when a signal ended it.'),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  caller: CallerRefSchema.optional().describe(
    'The caller that started it; only in lists for the console and the operator.',
  ),
};

export const JobSummary = wire.named(
  'JobSummary',
  z.object({
    ...summaryFields,
    argv: z.array(z.string()).optional().describe('Program and arguments; only for the console and the operator.'),
    label: z.string().optional().describe('Label to show instead of argv; only for the console and the operator.'),
  }),
);
export type JobSummary = z.input<typeof JobSummary>;

export const JobRecord = wire.named(
  'JobRecord',
  z.object({
    ...summaryFields,
    argv: z.array(z.string()),
    label: z.string().optional().describe('Label to show instead of argv, if the caller sent one.'),
    stdout: z.string().describe('Output so far; invalid UTF-8 becomes U+FFFD.'),
    stderr: z.string(),
    next: wire.uint64().optional().describe('Output so far, in bytes: pass it as `since` to read the output after it.'),
    terminal: z.boolean().optional().describe('Whether it runs in a terminal.'),
    cols: z.int().optional().describe('Size of its terminal.'),
    rows: z.int().optional(),
  }),
);
export type JobRecord = z.input<typeof JobRecord>;
