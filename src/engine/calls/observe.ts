/**
 * The second step: records calls for consoles, when each begins and when it ends.
 *
 * Calls that the engine answers itself are left out: consoles make most of them.
 */
import { toErrorBody, type InvokeFrame, type ResultFrame } from '#protocol';
import { plainBody } from '../errors.ts';
import { isBuiltIn } from '../registry.ts';
import { DEFAULT_NAMESPACE } from '../namespace.ts';
import type { Failure, Watched } from '#contract';
import type { Call, Origin } from './call.ts';
import { CallContents } from './call-contents.ts';
import { codeOf, RecentCalls } from './recent-calls.ts';

export class Observed {
  readonly recent = new RecentCalls();
  readonly contents: CallContents;
  readonly #watched: Watched;

  constructor(maxContentBytes: number, watched: Watched) {
    this.#watched = watched;
    this.contents = new CallContents(maxContentBytes);
  }

  began(call: Call, payload: unknown): void {
    if (isBuiltIn(call.executor)) return;
    this.contents.addPayload(call.id, payload);
    this.#watched.changed('calls');
  }

  answered(call: Call, frame: ResultFrame): void {
    if (isBuiltIn(call.executor)) return;
    const { result, error } = frame;
    const changes = call.wantsChanges ? frame.changes : undefined;
    this.recent.add(call, error ? codeOf(error) : undefined);
    if (error) this.contents.addOutcome(call.id, 'error', toErrorBody(error), changes);
    else this.contents.addOutcome(call.id, 'result', result, changes);
    this.#watched.changed('calls');
  }

  /** Ended without an answer. */
  stopped(call: Call, code: string): void {
    if (isBuiltIn(call.executor)) return;
    this.recent.add(call, code);
    this.#watched.changed('calls');
  }

  /** The engine refused the call; no worker got it. */
  refused(frame: InvokeFrame, { principal, via }: Origin, failure: Failure): void {
    const { function_id: functionId, invocation_id, namespace } = frame;
    this.recent.addRefused({
      id: invocation_id ?? '',
      functionId,
      namespace: namespace ?? DEFAULT_NAMESPACE,
      principal,
      via,
      code: failure.code,
    });
    this.#watched.changed('calls');
    if (invocation_id != null) this.contents.addRefused(invocation_id, frame.data, plainBody(failure));
  }
}
