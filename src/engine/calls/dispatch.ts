/** The third step: finds the executor of a call and hands the call over. */
import { randomUUID } from 'node:crypto';

import { didYouMean, type CalledFunction, type CallSpan, type Failure } from '#contract';
import { FEATURE_CHANGES, workerSegment, type SendOutcome } from '#protocol';
import { fail } from '../errors.ts';
import type { EngineLimits } from '../limits.ts';
import { isBuiltIn, type Registry } from '../registry.ts';
import type { CallEvents } from './call-events.ts';
import { ENQUEUE_ID, enqueueCall } from './call-frames.ts';
import type { Call, From } from './call.ts';
import type { Executor, Request, Sink } from './executor.ts';
import type { Observed } from './observe.ts';
import type { OpenCalls } from './open-calls.ts';
import { Reading } from './reading.ts';
import { WaitingCalls } from './waiting-calls.ts';

/** Suggesting a similar name takes time per known name; this bounds the cost of a typo. */
const MOST_SUGGESTED_FROM = 500;

interface DispatchParts {
  registry: Registry;
  limits: EngineLimits;
  open: OpenCalls;
  events: CallEvents;
  observed: Observed;
  sink: Sink;
}

/** A function and the executor of its calls: its owner, or the one that holds them for a while. */
type Called = CalledFunction & { readonly owner: Executor };

export class Dispatch {
  readonly #parts: DispatchParts;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
  }

  /** Hands the call to the owner of its function, or returns why there is none. */
  handOver({ id, namespace, metadata, owner }: Called, request: Request, from: From): Failure | undefined {
    const { limits, open, events, observed, sink } = this.#parts;
    const { principal, via, waiting, isApproved, rule } = from;
    // Events have no waiting caller, so no caller's limit counts them.
    const limit = limits.maxCallsInFlight;
    if (!waiting && owner.serving.size >= limit) return fail('too_many_calls', { limit });

    const reading = Reading.of(metadata);
    const audited = observed.audited(reading, metadata, request.frame.data);
    const callId = open.idFor(waiting);
    const outer = via === undefined ? undefined : open.find(via);
    const traceparent = request.frame.traceparent ?? outer?.span?.traceparent;
    const span = observed.span({ id: callId, functionId: id, namespace, principal, via, traceparent });
    const call = {
      id: callId,
      functionId: id,
      namespace,
      executor: owner,
      reading,
      line: reading.line(request.frame.data),
      principal,
      via,
      isApproved,
      rule,
      waiting,
      audited,
      span,
      wantsChanges:
        (observed.contents.isWatched || waiting?.wantsChanges === true) && owner.features.has(FEATURE_CHANGES),
      startedAtMs: Date.now(),
      startTick: performance.now(),
    };
    open.begin(call);
    events.began(call);
    const outcome = owner.execute(
      call,
      span && !(owner instanceof WaitingCalls) ? withSpan(request, span) : request,
      sink,
    );
    if (outcome !== 'sent') {
      open.end(call);
      return this.#notSent(call, outcome, request);
    }
    observed.began(call, request.frame.data);
    return undefined;
  }

  /** Hands the call to the queue worker; whether its function is served is checked when it is dequeued. */
  enqueue(request: Request, queue: string, from: From): Failure | undefined {
    const { frame } = request;
    const functionId = frame.function_id;
    const provider = this.#parts.registry.find(ENQUEUE_ID);
    if (!provider || isBuiltIn(provider.owner)) return fail('enqueue_error', { id: functionId, queue });

    const receiptId = randomUUID();
    const waiting = from.waiting && { ...from.waiting, enqueued: { functionId, receiptId } };
    return this.handOver(provider, { frame: enqueueCall(frame, queue, receiptId) }, { ...from, waiting });
  }

  notFound({ id, namespace }: CalledFunction): Failure {
    const { registry } = this.#parts;
    const known = registry
      .list()
      .slice(0, MOST_SUGGESTED_FROM)
      .map((fn) => fn.id);
    const elsewhere = registry.namespacesOf(id, namespace);
    return fail('function_not_found', { id, namespace, elsewhere, hint: didYouMean(id, known) });
  }

  #notSent(call: Call, outcome: Exclude<SendOutcome, 'sent'>, { encoded }: Request): Failure {
    if (outcome === 'too-large') {
      const limit = this.#parts.limits.maxMessageBytes;
      return fail('payload_too_large', { what: 'request', bytes: encoded?.length ?? limit + 1, limit });
    }
    if (outcome === 'not-json') return fail('not_json', { what: 'request' });
    return fail('channel_send_failed', { id: call.functionId, why: whyNot(call.executor, outcome) });
  }
}

/** The answer to another node: the same whether the function is absent or not shared, and without ids of this node. */
export function notShared({ id, namespace }: CalledFunction): Failure {
  const hint = ` A node answers others only for what it shares: --share ${workerSegment(id)}, if it has this function.`;
  return fail('function_not_found', { id, namespace, elsewhere: [], hint });
}

/**
 * Calls that the executor makes on behalf of the call belong to its span. A waiting call gets another span when it
 * resumes.
 */
function withSpan({ frame, session }: Request, { traceparent }: CallSpan): Request {
  return { frame: { ...frame, traceparent }, ...(session && { session }) };
}

function whyNot({ label }: Executor, outcome: 'full' | 'closed'): string {
  return outcome === 'full' ? `worker ${label} does not read its messages` : `worker ${label} is gone`;
}
