/** Background jobs and the operations on them, written once for every worker that offers them. */
export { attach } from './attach.ts';
export { Attachments } from './attachments.ts';
export type { BackgroundJob, JobWork } from './background-job.ts';
export { input } from './input.ts';
export { codeOfJobFault, JobFault } from './job-fault.ts';
export type { JobContext, JobOperation } from './job-operation.ts';
export { JobSummary, type JobRecord } from './job-record.ts';
export { Jobs } from './jobs.ts';
export { kill } from './kill.ts';
export { output } from './output.ts';
export { OutputEvent } from './output-events.ts';
export { ringBytes } from './ring-bytes.ts';
export { liveAnswer, liveFields, runLive, type LiveOutcome } from './run-live.ts';
export { status } from './status.ts';
export { TerminalSize } from './terminal-size.ts';
