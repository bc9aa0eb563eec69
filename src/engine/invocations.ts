/**
 * Calls on their way: find the owner, forward, relay the answer, give up.
 *
 * A call or a result that needs no change is sent on as the bytes it came in.
 */
import { randomUUID } from 'node:crypto';

import { didYouMean, type Failure, type Log } from '#contract';
import {
  FEATURE_CANCEL,
  toErrorBody,
  type EncodedFrame,
  type ErrorBody,
  type InvokeFrame,
  type ResultFrame,
} from '#protocol';
import { CallContents } from './calls/call-contents.ts';
import { answered, ENQUEUE_ID, enqueueCall, readdressed, receiptOf, withTrueCaller } from './calls/call-frames.ts';
import { fail, plainBody } from './errors.ts';
import type { EngineLimits } from './limits.ts';
import { PendingCalls, type Caller, type PendingCall } from './calls/pending-calls.ts';
import { codeOf, RecentCalls } from './calls/recent-calls.ts';
import { isBuiltIn, type BuiltIn, type Registry } from './registry.ts';
import { DEFAULT_NAMESPACE, type Session } from './session.ts';

export type AnswerBuiltIn = (
  builtIn: BuiltIn,
  call: { callId: string; payload: unknown; callerId?: string },
) => Promise<{ result: unknown } | { error: ErrorBody }>;

const SWEEP_MS = 30_000;
/** Looking for a near name costs time per known one; a caller must not buy much of it with a typo. */
const MOST_SUGGESTED_FROM = 500;

export class Invocations {
  readonly recent = new RecentCalls();
  readonly contents: CallContents;
  readonly #pending = new PendingCalls();
  readonly #registry: Registry;
  readonly #limits: EngineLimits;
  readonly #answerBuiltIn: AnswerBuiltIn;
  readonly #log: Log;
  readonly #sweeper: NodeJS.Timeout;

  constructor(parts: { registry: Registry; limits: EngineLimits; answerBuiltIn: AnswerBuiltIn; log: Log }) {
    this.#registry = parts.registry;
    this.#limits = parts.limits;
    this.contents = new CallContents(parts.limits.maxCallContentBytes);
    this.#answerBuiltIn = parts.answerBuiltIn;
    this.#log = parts.log;
    this.#sweeper = setInterval(() => this.#giveUpOld(), Math.min(SWEEP_MS, parts.limits.callDeadlineMs)).unref();
  }

  /** Takes a call from a peer. */
  route(caller: Session, given: InvokeFrame, received?: EncodedFrame): void {
    const frame = withTrueCaller(given, caller.workerId);
    const encoded = frame === given ? received : undefined;
    const invocationId = frame.action?.type === 'void' ? undefined : (frame.invocation_id ?? undefined);
    const { traceparent, baggage } = frame;
    const answerTo = invocationId === undefined ? undefined : { session: caller, invocationId, traceparent, baggage };
    const refusal = this.#refusal(caller, frame);
    if (refusal) return this.#turnAway(caller, frame, answerTo, refusal);

    if (frame.action?.type === 'enqueue') return this.#enqueue(caller, frame, frame.action.queue, answerTo);

    const fn = this.#registry.find(frame.function_id, frame.namespace ?? DEFAULT_NAMESPACE);
    if (!fn) return this.#turnAway(caller, frame, answerTo, this.#notFound(frame));
    if (isBuiltIn(fn.owner)) return void this.#runBuiltIn(fn.owner, frame, caller, answerTo);

    const failure = this.#forward(fn.owner, frame, answerTo, encoded);
    if (failure) this.#turnAway(caller, frame, answerTo, failure);
  }

  /** Calls a function on the engine's own behalf; nobody waits for the answer. */
  fire(functionId: string, payload: unknown, metadata: unknown, namespace = DEFAULT_NAMESPACE): void {
    const fn = this.#registry.find(functionId, namespace);
    if (!fn || isBuiltIn(fn.owner)) return;
    this.#forward(fn.owner, { type: 'invokefunction', function_id: functionId, data: payload, metadata });
  }

  /** Takes a result from a peer. Unknown, repeated and foreign results are dropped. */
  settle(executor: Session, frame: ResultFrame, encoded?: EncodedFrame): void {
    const call = this.#pending.find(frame.invocation_id);
    if (!call || call.executor !== executor) return;

    const isFailure = Boolean(frame.error);
    this.#end(call, isFailure ? codeOf(frame.error) : undefined);
    if (isFailure) this.contents.addOutcome(call.id, 'error', toErrorBody(frame.error));
    else this.contents.addOutcome(call.id, 'result', frame.result);
    if (!call.caller) return;
    const { invocationId, enqueued } = call.caller;
    if (enqueued) return this.#deliver(call.caller, receiptOf(enqueued, call.caller, frame));
    if (!isFailure && invocationId === frame.invocation_id) return this.#deliver(call.caller, frame, encoded);

    const { invocation_id: _, function_id: __, error: ___, ...rest } = frame;
    const outcome = isFailure ? { error: toErrorBody(frame.error), result: undefined } : {};
    this.#deliver(call.caller, { ...rest, invocation_id: invocationId, function_id: call.functionId, ...outcome });
  }

  /** The caller no longer wants the answer; an executor that listens for that is told. */
  cancel(caller: Session, invocationId: string): void {
    for (const call of caller.calling) {
      if (call.caller?.invocationId === invocationId) return this.#abandon(call, 'CANCELLED');
    }
  }

  /** A frame was too large to take: whoever waits for it is told. */
  refuseOversized(
    session: Session,
    head: { type?: string; invocationId?: string; functionId?: string; bytes: number },
  ): void {
    const { invocationId, functionId = '', bytes } = head;
    if (invocationId === undefined) return;

    const limit = this.#limits.maxMessageBytes;
    if (head.type === 'invokefunction') {
      this.#refuse({ session, invocationId }, functionId, fail('payload_too_large', { what: 'request', bytes, limit }));
    } else if (head.type === 'invocationresult') {
      const error = plainBody(fail('payload_too_large', { what: 'result', bytes, limit }));
      this.settle(session, { type: 'invocationresult', invocation_id: invocationId, error });
    }
  }

  /** Ends every call the session is part of. */
  stopSession(session: Session): void {
    for (const call of session.serving) {
      this.#end(call, 'invocation_stopped');
      this.#refuse(call.caller, call.functionId, fail('invocation_stopped', {}));
    }
    for (const call of session.calling) this.#abandon(call, 'CANCELLED');
  }

  /** The calls that wait for their answer, oldest first. */
  running(most: number): PendingCall[] {
    return this.#pending.oldest(most);
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  #refusal(caller: Session, frame: InvokeFrame): Failure | undefined {
    if (frame.namespace != null && frame.namespace.trim() === '') return fail('INVALID_NAMESPACE', {});
    const limit = this.#limits.maxCallsInFlight;
    return caller.calling.size >= limit ? fail('too_many_calls', { limit }) : undefined;
  }

  /** Hands the call to the worker with queues; whether its function is served is seen when it is taken off the queue. */
  #enqueue(caller: Session, frame: InvokeFrame, queue: string, answerTo: Caller | undefined): void {
    const functionId = frame.function_id;
    const provider = this.#registry.find(ENQUEUE_ID)?.owner;
    if (!provider || isBuiltIn(provider)) {
      return this.#turnAway(caller, frame, answerTo, fail('enqueue_error', { id: functionId, queue }));
    }
    const receiptId = randomUUID();
    const waiting = answerTo && { ...answerTo, enqueued: { functionId, receiptId } };
    const failure = this.#forward(provider, enqueueCall(frame, queue, receiptId), waiting);
    if (failure) this.#turnAway(caller, frame, answerTo, failure);
  }

  #notFound(frame: InvokeFrame): Failure {
    const id = frame.function_id;
    const namespace = frame.namespace ?? DEFAULT_NAMESPACE;
    const known = this.#registry
      .list()
      .slice(0, MOST_SUGGESTED_FROM)
      .map((fn) => fn.id);
    return fail('function_not_found', {
      id,
      namespace,
      elsewhere: this.#registry.namespacesOf(id, namespace),
      hint: didYouMean(id, known),
    });
  }

  #forward(executor: Session, frame: InvokeFrame, caller?: Caller, encoded?: EncodedFrame): Failure | undefined {
    // Nobody waits for these, so no caller's count holds them back.
    const limit = this.#limits.maxCallsInFlight;
    if (!caller && executor.serving.size >= limit) return fail('too_many_calls', { limit });

    const call = this.#pending.begin(frame.function_id, executor, caller);
    const { id } = call;
    const isUnchanged = id === caller?.invocationId && frame.data !== undefined && !frame.action && !frame.namespace;
    const outcome = isUnchanged ? executor.link.send(frame, encoded) : executor.link.send(readdressed(frame, id));
    if (outcome === 'sent') {
      this.contents.addPayload(id, frame.data);
      return undefined;
    }

    this.#pending.forget(call);
    if (outcome === 'too-large') {
      const bytes = encoded?.length ?? this.#limits.maxMessageBytes + 1;
      return fail('payload_too_large', { what: 'request', bytes, limit: this.#limits.maxMessageBytes });
    }
    if (outcome === 'not-json') return fail('not_json', { what: 'request' });
    const why =
      outcome === 'full' ? `worker ${executor.label} does not read its messages` : `worker ${executor.label} is gone`;
    return fail('channel_send_failed', { id: frame.function_id, why });
  }

  async #runBuiltIn(
    builtIn: BuiltIn,
    frame: InvokeFrame,
    caller: Session,
    answerTo: Caller | undefined,
  ): Promise<void> {
    const callId = frame.invocation_id ?? randomUUID();
    const call = { callId, payload: frame.data, metadata: frame.metadata, callerId: caller.workerId };
    const reply = await this.#answerBuiltIn(builtIn, call);
    if (!answerTo) return;
    this.#deliver(answerTo, {
      type: 'invocationresult',
      invocation_id: answerTo.invocationId,
      function_id: frame.function_id,
      ...reply,
    });
  }

  #turnAway(caller: Session, frame: InvokeFrame, answerTo: Caller | undefined, failure: Failure): void {
    const { function_id: functionId, invocation_id } = frame;
    const namespace = frame.namespace ?? DEFAULT_NAMESPACE;
    this.recent.addRefused({
      id: invocation_id ?? '',
      functionId,
      namespace,
      caller: caller.label,
      code: failure.code,
    });
    if (invocation_id != null) this.contents.addRefused(invocation_id, frame.data, plainBody(failure));
    this.#refuse(answerTo, functionId, failure);
  }

  #refuse(caller: Caller | undefined, functionId: string, failure: Failure): void {
    if (!caller) {
      this.#log.debug('a call nobody waits for failed', { function: functionId, why: failure.message });
      return;
    }
    this.#deliver(caller, {
      type: 'invocationresult',
      invocation_id: caller.invocationId,
      function_id: functionId,
      error: plainBody(failure),
    });
  }

  #deliver(caller: Caller, result: ResultFrame, received?: EncodedFrame): void {
    const { session } = caller;
    const { frame, encoded } = answered(result, caller, received);
    const outcome = session.link.send(frame, encoded);
    if (outcome === 'too-large') {
      const bytes = encoded?.length ?? this.#limits.maxMessageBytes + 1;
      const failure = fail('payload_too_large', { what: 'result', bytes, limit: this.#limits.maxMessageBytes });
      session.link.send({ ...frame, result: undefined, error: plainBody(failure) });
    } else if (outcome === 'not-json') {
      session.link.send({ ...frame, result: undefined, error: plainBody(fail('not_json', { what: 'result' })) });
    } else if (outcome === 'full') {
      this.#log.warn('dropping a peer that does not read its results', { worker: session.label });
      session.link.close('results are not being read');
    }
  }

  #abandon(call: PendingCall, code: string): void {
    this.#end(call, code);
    if (call.executor.features.has(FEATURE_CANCEL)) {
      call.executor.link.send({ type: 'cancelinvocation', invocation_id: call.id });
    }
  }

  #giveUpOld(): void {
    const limitMs = this.#limits.callDeadlineMs;
    for (const call of this.#pending.begunBefore(Date.now() - limitMs)) {
      this.#abandon(call, 'TIMEOUT');
      this.#refuse(call.caller, call.functionId, fail('TIMEOUT', { ms: limitMs }));
    }
  }

  #end(call: PendingCall, code?: string): void {
    this.#pending.forget(call);
    this.recent.add(call, code);
  }
}
