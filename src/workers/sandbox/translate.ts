/** Errors of the parts below as failures of this worker. */
import type { Failure } from '#contract';
import { codeOfFault, codeOfHostReason } from '#file-functions';
import { FileFault, GlobError, HostError, RegexError, ReplacementError, TimeLimitError, type FaultReason } from '#host';
import { codeOfJobFault, JobFault } from '#job-functions';
import { AgentTooOld, GuestError, GuestLost } from '#sandbox/guest';
import { errors } from './errors.ts';

const codeForFault = {
  ...codeOfFault,
  // In the original's table of sandbox::fs S218 is an upload whose channel broke.
  stream: 'S218',
} as const satisfies Record<FaultReason, keyof typeof errors.table>;

export function translate(error: unknown): Failure | undefined {
  if (error instanceof RegexError) return errors.fail('S217', { problem: `bad regex: ${error.message}` }, error);
  if (error instanceof ReplacementError || error instanceof GlobError) {
    return errors.fail('S210', { problem: error.message }, error);
  }
  if (error instanceof FileFault) {
    return errors.fail(codeForFault[error.reason], { path: error.message, problem: error.message }, error);
  }
  if (error instanceof JobFault) return jobFailure(error);
  if (error instanceof AgentTooOld) return errors.fail('S219', { problem: error.message }, error);
  if (error instanceof TimeLimitError) return errors.fail('S216', { problem: error.message }, error);
  if (error instanceof GuestLost) return errors.fail('S300', { problem: error.message }, error);
  if (!(error instanceof HostError)) return undefined;
  if (error.cause instanceof GuestError && error.cause.code === 'ENOSYS') {
    return errors.fail('S219', { problem: `the sandbox cannot do this to ${error.path}` }, error);
  }
  return errors.fail(codeOfHostReason[error.reason], { path: error.path, problem: error.message }, error);
}

function jobFailure(fault: JobFault): Failure {
  const { reason, message: problem } = fault;
  return errors.fail(reason === 'full' ? 'S400' : codeOfJobFault[reason], { problem }, fault);
}
