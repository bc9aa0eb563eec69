/**
 * The last step: ends a call once, with or without an answer, and reports that to the waiting caller.
 *
 * A result that needs no change is forwarded as the bytes it came in.
 */
import type { Failure, Log } from '#contract';
import { FEATURE_CANCEL, toErrorBody, type EncodedFrame, type EventFrame, type ResultFrame } from '#protocol';
import { fail, plainBody } from '../errors.ts';
import type { EngineLimits } from '../limits.ts';
import type { Call, Waiting } from './call.ts';
import type { CallEvents } from './call-events.ts';
import { answered, receiptOf } from './call-frames.ts';
import type { Sink } from './executor.ts';
import type { Observed } from './observe.ts';
import type { OpenCalls } from './open-calls.ts';

interface SettleParts {
  open: OpenCalls;
  events: CallEvents;
  observed: Observed;
  limits: EngineLimits;
  log: Log;
}

export class Settle implements Sink {
  readonly #parts: SettleParts;

  constructor(parts: SettleParts) {
    this.#parts = parts;
  }

  event(call: Call, frame: EventFrame, encoded?: EncodedFrame): void {
    this.#parts.events.deliver(call, frame, encoded);
  }

  result(call: Call, given: ResultFrame, received?: EncodedFrame): void {
    const { open, observed } = this.#parts;
    if (!open.end(call)) return;
    observed.answered(call, given);
    const { waiting } = call;
    if (!waiting) return;
    // A console may have asked for the changes when the caller did not.
    const isWhole = given.versions === undefined && (waiting.wantsChanges || given.changes === undefined);
    const frame = isWhole ? given : withoutReports(given, waiting);
    const encoded = isWhole ? received : undefined;

    const { invocationId, enqueued } = waiting;
    if (enqueued) return this.#deliver(waiting, receiptOf(enqueued, waiting, frame));
    const isFailure = Boolean(frame.error);
    if (!isFailure && invocationId === frame.invocation_id) return this.#deliver(waiting, frame, encoded);

    const { invocation_id: _, function_id: __, error: ___, ...rest } = frame;
    const outcome = isFailure ? { error: toErrorBody(frame.error), result: undefined } : {};
    this.#deliver(waiting, { ...rest, invocation_id: invocationId, function_id: call.functionId, ...outcome });
  }

  /** The caller no longer waits, or the deadline passed; cancels the executor if it supports that. */
  abandon(call: Call, code: string): void {
    this.#stop(call, code);
    this.askToStop(call, { wait: false });
  }

  /** Asks the executor to stop; with `wait` its answer is still delivered. */
  askToStop({ executor, id }: Call, options: { wait: boolean }): void {
    if (executor.features.has(FEATURE_CANCEL)) executor.cancel(id, options);
  }

  /** The executor disconnected. */
  breakOff(call: Call): void {
    this.#stop(call, 'invocation_stopped');
    this.refuse(call.waiting, call.functionId, fail('invocation_stopped', {}));
  }

  refuse(waiting: Waiting | undefined, functionId: string, failure: Failure): void {
    if (!waiting) {
      this.#parts.log.debug('a call without a waiting caller failed', { function: functionId, why: failure.message });
      return;
    }
    this.#deliver(waiting, {
      type: 'invocationresult',
      invocation_id: waiting.invocationId,
      function_id: functionId,
      error: plainBody(failure),
    });
  }

  #stop(call: Call, code: string): void {
    if (this.#parts.open.end(call)) this.#parts.observed.stopped(call, code);
  }

  #deliver(waiting: Waiting, result: ResultFrame, received?: EncodedFrame): void {
    const { session } = waiting;
    const { frame, encoded } = answered(result, waiting, received);
    const outcome = session.link.send(frame, encoded);
    if (outcome === 'too-large') {
      const limit = this.#parts.limits.maxMessageBytes;
      const failure = fail('payload_too_large', { what: 'result', bytes: encoded?.length ?? limit + 1, limit });
      session.link.send({ ...frame, result: undefined, error: plainBody(failure) });
    } else if (outcome === 'not-json') {
      session.link.send({ ...frame, result: undefined, error: plainBody(fail('not_json', { what: 'result' })) });
    } else if (outcome === 'full') {
      this.#parts.log.warn('dropping a peer that does not read its results', { worker: session.label });
      session.link.close('results are not being read');
    }
  }
}

/** Drops `versions`, which only the engine reads. */
function withoutReports({ changes, versions: _, ...rest }: ResultFrame, { wantsChanges }: Waiting): ResultFrame {
  return wantsChanges && changes !== undefined ? { ...rest, changes } : rest;
}
