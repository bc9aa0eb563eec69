/**
 * The second step: records calls for consoles, when each begins and when it ends.
 *
 * Calls that the engine answers itself are left out, and those by which a console page only reads: pages make most of
 * them, and the list has room for the calls of others.
 */
import { toErrorBody, type InvokeFrame, type ResultFrame } from '#protocol';
import { plainBody } from '../errors.ts';
import { isBuiltIn } from '../registry.ts';
import { DEFAULT_NAMESPACE } from '../namespace.ts';
import {
  fieldOf,
  type Audit,
  type CalledFunction,
  type CallSpan,
  type Failure,
  type Telemetry,
  type TracedCall,
  type Watched,
} from '#contract';
import type { CallMetrics } from '../telemetry/call-metrics.ts';
import type { Call, Origin } from './call.ts';
import { CallContents } from './call-contents.ts';
import { changedLines, type Outcome, type Reading } from './reading.ts';
import { codeOf, RecentCalls } from './recent-calls.ts';

interface Refused {
  failure: Failure;
  /** The called function, if it exists. */
  fn: CalledFunction | undefined;
  reading: Reading;
}

interface Observers {
  watched: Watched;
  audit?: Audit | undefined;
  metrics: CallMetrics;
  telemetry?: Telemetry | undefined;
}

export class Observed {
  readonly recent = new RecentCalls();
  readonly contents: CallContents;
  readonly #watched: Watched;
  readonly #audit: Audit | undefined;
  readonly #metrics: CallMetrics;
  readonly #telemetry: Telemetry | undefined;

  constructor(maxContentBytes: number, { watched, audit, metrics, telemetry }: Observers) {
    this.#watched = watched;
    this.#audit = audit;
    this.#metrics = metrics;
    this.#telemetry = telemetry;
    this.contents = new CallContents(maxContentBytes);
  }

  /** Arguments for the audit record of a call that may change or run something; undefined for a read. */
  audited(reading: Reading, metadata: unknown, payload: unknown): { arguments: unknown } | undefined {
    return this.#audit && !reading.isRead ? { arguments: this.#audit.arguments(metadata, payload) } : undefined;
  }

  /** Begins the span of a call, before its executor gets the call. */
  span(call: TracedCall): CallSpan | undefined {
    return this.#telemetry?.begin(call);
  }

  began(call: Call, payload: unknown): void {
    if (isLeftOut(call)) return;
    this.contents.addPayload(call.id, payload);
    this.#watched.changed('calls');
  }

  answered(call: Call, frame: ResultFrame): void {
    const { result, error } = frame;
    const code = error ? codeOf(error) : undefined;
    const outcome = code === undefined ? call.reading.answered(result) : call.reading.failed(code);
    this.#metrics.ended(call, outcome.kind);
    call.span?.end({ kind: outcome.kind, code });
    this.#record(call, outcome.text, frame);
    if (isLeftOut(call)) return;
    const changes = call.wantsChanges ? frame.changes : undefined;
    this.recent.add(call, { code, outcome, changed: changedLines(changes) });
    if (error) this.contents.addOutcome(call.id, 'error', toErrorBody(error), changes);
    else this.contents.addOutcome(call.id, 'result', result, changes);
    this.#watched.changed('calls');
  }

  /** Ended without an answer. */
  stopped(call: Call, code: string): void {
    const outcome = code === 'CANCELLED' ? ({ kind: 'cancelled', text: code } as const) : refusal(code);
    this.#metrics.ended(call, outcome.kind);
    call.span?.end({ kind: outcome.kind, code });
    this.#record(call, code);
    if (isLeftOut(call)) return;
    this.recent.add(call, { code, outcome });
    this.#watched.changed('calls');
  }

  /** The engine refused the call; no worker got it. */
  refused(frame: InvokeFrame, { principal, via, rule }: Origin, { failure, fn, reading }: Refused): void {
    this.#metrics.refused(fn?.id, failure.code);
    const { function_id: functionId, invocation_id, namespace, traceparent } = frame;
    const traced = { id: invocation_id ?? '', functionId: fn?.id, namespace: namespace ?? DEFAULT_NAMESPACE };
    this.span({ ...traced, principal, via, traceparent })?.end({
      kind: refusal(failure.code).kind,
      code: failure.code,
    });
    if (failure.code === 'forbidden') {
      this.#audit?.record({
        ...{ id: invocation_id ?? '', functionId, namespace: namespace ?? DEFAULT_NAMESPACE, principal, via, rule },
        arguments: this.#audit.arguments(fn?.metadata, frame.data),
        outcome: failure.code,
      });
    }
    this.recent.addRefused({
      id: invocation_id ?? '',
      functionId,
      namespace: namespace ?? DEFAULT_NAMESPACE,
      principal,
      via,
      code: failure.code,
      outcome: refusal(failure.code),
      line: reading.line(frame.data),
    });
    this.#watched.changed('calls');
    if (invocation_id != null) this.contents.addRefused(invocation_id, frame.data, plainBody(failure));
  }

  #record(call: Call, outcome: string, answer?: ResultFrame): void {
    const { audited } = call;
    if (!this.#audit || !audited || isBuiltIn(call.executor)) return;
    const durationMs = performance.now() - call.startTick;
    const { id, functionId, namespace, principal, via, rule, isApproved } = call;
    const exitCode = answer && fieldOf(answer.result, 'exit_code');
    this.#audit.record({
      ...{ id, functionId, namespace, principal, via, rule, isApproved },
      ...{ ...audited, outcome, durationMs, changes: answer?.versions ?? answer?.changes },
      ...(typeof exitCode === 'number' && { exitCode }),
    });
  }
}

function isLeftOut({ executor, principal, reading }: Call): boolean {
  return isBuiltIn(executor) || (principal.kind === 'page' && reading.isRead);
}

/** An unknown function or an exceeded limit is not a refusal by policy. */
function refusal(code: string): Outcome {
  return { kind: code === 'forbidden' ? 'refused' : 'failed', text: code };
}
