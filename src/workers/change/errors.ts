/** The failures of change. */
import { defineErrors, type Failure } from '#contract';
import { HostError, LayerError, TooManyFiles, UntouchedPath, type LayerReason } from '#host';

type Problem = { problem: string; fix?: Record<string, unknown> };
const message = (d: Problem) => d.problem;
const fix = (d: Problem) => d.fix;

export const errors = defineErrors({
  W210: { meaning: 'The request is malformed, or the name is taken.', http: 400, message, fix },
  W211: { meaning: 'There is no such change; the text has the nearest open one.', http: 404, message, fix },
  W212: { meaning: 'Commands run in the change.', http: 409, retryable: true, message },
  W213: {
    meaning: 'Files were changed in the workspace too. Nothing was committed.',
    http: 409,
    message: (d: { problem: string; conflicts: readonly unknown[]; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
    extra: (d: { conflicts: readonly unknown[] }) => ({ conflicts: d.conflicts }),
  },
  W214: { meaning: 'Changes cannot be made on this host; the text says what failed.', http: 501, message },
  W215: {
    meaning: 'A limit is reached: max_open changes, or max_files_diff files in one of them.',
    http: 429,
    message,
  },
  W216: { meaning: 'A system call or the worker failed; the text says which.', http: 500, message },
  W217: { meaning: 'The change is open elsewhere: in another server, or in a sandbox.', http: 409, message },
  W218: { meaning: 'The commit waits for approval by a person.', http: 403, message },
  W219: { meaning: 'The change was changed after the diff that `expected_version` is of.', http: 409, message },
});

const codeFor = {
  malformed: 'W210',
  unknown: 'W211',
  busy: 'W212',
  unavailable: 'W214',
  limit: 'W215',
  system: 'W216',
  elsewhere: 'W217',
} as const satisfies Record<LayerReason, keyof typeof errors.table>;

export function translate(error: unknown): Failure | undefined {
  if (error instanceof LayerError) {
    const { reason, message: problem, fix: next } = error;
    return errors.fail(codeFor[reason], { problem, ...(next && { fix: next }) }, error);
  }
  if (error instanceof UntouchedPath) return errors.fail('W210', { problem: error.message }, error);
  if (error instanceof TooManyFiles) {
    return errors.fail('W215', { problem: `${error.message}, max_files_diff; discard it, or raise the limit` }, error);
  }
  if (error instanceof HostError) return errors.fail('W216', { problem: error.message }, error);
  return undefined;
}
