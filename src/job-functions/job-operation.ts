/**
 * One operation on a background job, independent of the worker that publishes it: its request, its response and its
 * work.
 *
 * A worker adds an id and the wording of failures; the texts of an operation name the functions of the worker that
 * publishes it. The codes are shared by all workers with these operations.
 */
import type { z } from 'zod';

import type { CallScope, FunctionDef } from '#contract';
import type { RegexThreads } from '#host';
import type { Attachments } from './attachments.ts';
import type { BackgroundJob } from './background-job.ts';
import type { JobCode } from './job-fault.ts';
import type { Jobs } from './jobs.ts';

/** The jobs of a worker, and the shared parts of operations on them. */
export interface JobContext {
  readonly jobs: Jobs;
  readonly attachments: Attachments;
  readonly regexes: RegexThreads;
  /** Whether a program listens on a port where the jobs run. */
  readonly isListening: (port: number, job: BackgroundJob) => Promise<boolean>;
}

type Described = Pick<
  FunctionDef<never>,
  'summary' | 'details' | 'effect' | 'permissions' | 'isIdempotent' | 'deadlineMs' | 'events' | 'reads'
>;

export interface JobOperation<
  Request extends z.ZodObject = z.ZodObject,
  Response extends z.ZodType = z.ZodType,
> extends Described {
  request: Request;
  response: Response;
  errors: readonly (JobCode | 'S216' | 'S217')[];
  handle(request: z.output<Request>, context: JobContext, scope: CallScope): Promise<z.input<Response>>;
}

/** Infers the types of a definition; returns its argument. */
export function defineJobOperation<Request extends z.ZodObject, Response extends z.ZodType>(
  operation: JobOperation<Request, Response>,
): JobOperation<Request, Response> {
  return operation;
}
