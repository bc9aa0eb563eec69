/** Reasons to refuse a request for a job, with their S codes for every worker that offers jobs. */

/** `full` has no shared code, because the original's error for it has none. */
export type JobFaultReason = 'bad-request' | 'missing' | 'full' | 'no-input' | 'beyond-end' | 'crowded' | 'signal';

export class JobFault extends Error {
  override readonly name = 'JobFault';
  readonly reason: JobFaultReason;

  constructor(reason: JobFaultReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export const codeOfJobFault = {
  'bad-request': 'S210',
  missing: 'S220',
  'no-input': 'S221',
  'beyond-end': 'S223',
  crowded: 'S224',
  signal: 'S225',
} as const satisfies Record<Exclude<JobFaultReason, 'full'>, string>;

export type JobCode = (typeof codeOfJobFault)[keyof typeof codeOfJobFault];
