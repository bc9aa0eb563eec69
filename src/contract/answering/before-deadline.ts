/** The deadline of a call. */
import { DEFAULT_DEADLINE_MS, type FunctionDef } from '../define-function.ts';
import type { AnyWorker } from '../define-worker.ts';
import type { CallControl } from './call-control.ts';
import { Deadlines } from './deadlines.ts';

/** One deadline queue per function: all its calls have the same timeout. */
const deadlines = new WeakMap<FunctionDef<never>, Deadlines>();

function deadlinesOf(fn: FunctionDef<never>, ms: number): Deadlines {
  const known = deadlines.get(fn);
  if (known) return known;

  const made = new Deadlines(ms);
  deadlines.set(fn, made);
  return made;
}

export function beforeDeadline<T>(
  work: Promise<T>,
  fn: FunctionDef<never>,
  def: Pick<AnyWorker, 'failures'>,
  control: CallControl,
): Promise<T> {
  const deadlineMs = fn.deadlineMs ?? DEFAULT_DEADLINE_MS;
  return new Promise((resolve, reject) => {
    const running = deadlinesOf(fn, deadlineMs).start(() => {
      const failure = def.failures.deadline(deadlineMs);
      control.abort(failure);
      reject(failure);
    });
    const settle =
      <V>(how: (value: V) => void) =>
      (value: V) => {
        running.done();
        how(value);
      };
    work.then(settle(resolve), settle(reject));
  });
}
