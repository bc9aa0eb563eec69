/**
 * The steps of a call through the engine: authorize, hold for a person or while the caller is paused, observe,
 * dispatch, settle.
 *
 * The principal of a call is determined here, before any other step.
 */
import {
  Failure,
  type AccessControl,
  type Audit,
  type Log,
  type Principal,
  type Telemetry,
  type Watched,
} from '#contract';
import type { EncodedFrame, EventFrame, FrameHead, InvokeFrame, ResultFrame } from '#protocol';
import { fail, plainBody } from '../errors.ts';
import type { EngineLimits } from '../limits.ts';
import { isBuiltIn, type Registry } from '../registry.ts';
import { DEFAULT_NAMESPACE } from '../namespace.ts';
import type { Session } from '../session.ts';
import { isOrActsFor } from '../session-principal.ts';
import type { Trigger } from '../triggers.ts';
import type { CallMetrics } from '../telemetry/call-metrics.ts';
import { Approvals } from './approvals.ts';
import { Callers } from './callers.ts';
import { waitingOf, type Call, type From, type Waiting } from './call.ts';
import { CallEvents } from './call-events.ts';
import { withTrueCaller } from './call-frames.ts';
import { Control } from './control.ts';
import { Dispatch, notShared } from './dispatch.ts';
import type { Request } from './executor.ts';
import { WaitingCalls } from './waiting-calls.ts';
import { principalFor, UNREADABLE, vouchedFor } from './on-behalf.ts';
import { Observed } from './observe.ts';
import { OpenCalls } from './open-calls.ts';
import { Reading } from './reading.ts';
import { Rights } from './rights.ts';
import { Settle } from './settle.ts';

const SWEEP_MS = 30_000;
const UNREADABLE_TEXT =
  'on_behalf_of cannot be read: send {"client": {"name", "version"}, "only": ["coder"], "read_only": true}, each if needed';

interface CallsParts {
  registry: Registry;
  limits: EngineLimits;
  log: Log;
  watched: Watched;
  access?: AccessControl | undefined;
  audit?: Audit | undefined;
  metrics: CallMetrics;
  telemetry?: Telemetry | undefined;
}

export class Calls {
  readonly observed: Observed;
  readonly callers = new Callers();
  readonly control: Control;
  readonly approvals: Approvals;
  readonly rights: Rights;
  readonly #open = new OpenCalls();
  readonly #paused = new WaitingCalls('paused');
  readonly #events = new CallEvents(this.#open);
  readonly #dispatch: Dispatch;
  readonly #settle: Settle;
  readonly #registry: Registry;
  readonly #limits: EngineLimits;
  readonly #sweeper: NodeJS.Timeout;

  constructor({ registry, limits, log, watched, access, audit, metrics, telemetry }: CallsParts) {
    this.#registry = registry;
    this.rights = new Rights(registry, access);
    this.#limits = limits;
    this.observed = new Observed(limits.maxCallContentBytes, { watched, audit, metrics, telemetry });
    const shared = { open: this.#open, events: this.#events, observed: this.observed, limits };
    this.#settle = new Settle({ ...shared, log });
    this.#dispatch = new Dispatch({ ...shared, registry, sink: this.#settle });
    this.control = new Control({
      ...{ open: this.#open, settle: this.#settle, callers: this.callers, log, audit },
      resume: () => this.#resume(),
      changed: () => watched.changed('callers'),
    });
    this.approvals = new Approvals({
      ...{ dispatch: this.#dispatch, open: this.#open, settle: this.#settle, log, audit },
      timeoutMs: () => access?.askTimeoutMs ?? 0,
      resume: (request, from) => this.#route(request, from),
      changed: () => watched.changed('approvals'),
    });
    this.#open.onEnded = ({ id }) => this.approvals.outerEnded(id);
    this.#sweeper = setInterval(() => this.#endOverdue(), Math.min(SWEEP_MS, limits.callDeadlineMs)).unref();
  }

  /** Takes a call from a peer. */
  take(session: Session, given: InvokeFrame, received?: EncodedFrame): void {
    const frame = withTrueCaller(given, session.workerId);
    const request = { frame, encoded: frame === given ? received : undefined, session };
    const from = this.#fromOf(session, frame, waitingOf(session, frame));
    if (from.via === undefined && from.principal.kind !== 'page') this.#noteCaller(frame, from.principal);
    this.#route(request, from, this.#refusal(session, frame, from));
  }

  /**
   * Calls a function for an event of the engine, without waiting for the answer. The rights of the principal that
   * bound the trigger are checked at every event: the function may be another than when it was bound.
   */
  fire({ functionId, namespace, metadata, principal, binder }: Trigger, payload: unknown): void {
    const fn = this.#registry.resolve(functionId, namespace);
    if (!fn || fn instanceof Failure || isBuiltIn(fn.owner)) return;
    const frame = { type: 'invokefunction', function_id: functionId, namespace, data: payload, metadata } as const;
    const { rule, failure } = this.rights.forEvent(principal, fn, payload);
    const from = { principal, ...(principal.grants.policy !== undefined && { rule }) };
    if (failure) return this.#refuse(frame, from, failure);
    const owner = this.#isPaused(principal, binder) ? this.#paused : fn.owner;
    this.#dispatch.handOver({ ...fn, owner }, { frame }, from);
  }

  /** Takes a result from a peer. Unknown, repeated and foreign results are dropped. */
  settle(executor: Session, frame: ResultFrame, encoded?: EncodedFrame): void {
    const call = this.#open.find(frame.invocation_id);
    if (call?.executor === executor) this.#settle.result(call, frame, encoded);
  }

  /** Takes an event of a call from its executor, or its caller's answer to a question. Others are dropped. */
  report(session: Session, frame: EventFrame, encoded?: EncodedFrame): void {
    const call = this.#open.find(frame.invocation_id);
    if (call?.executor === session) this.#settle.event(call, frame, encoded);
    else this.approvals.answerFrom(session, frame);
  }

  /** Cancels the executor. The caller no longer waits, unless it set `wait`. */
  cancel(caller: Session, invocationId: string, { wait = false }: { wait?: boolean | undefined } = {}): void {
    const call = [...caller.calling].find(({ waiting }) => waiting?.invocationId === invocationId);
    if (call && wait) this.#settle.askToStop(call, { wait });
    else if (call) this.#settle.abandon(call, 'CANCELLED');
  }

  /** A frame was too large to accept: reports that to the waiting caller. */
  refuseOversized(session: Session, { type, invocationId, functionId = '', bytes }: FrameHead): void {
    if (invocationId === undefined) return;

    const limit = this.#limits.maxMessageBytes;
    if (type === 'invokefunction') {
      const failure = fail('payload_too_large', { what: 'request', bytes, limit });
      this.#settle.refuse({ session, invocationId }, functionId, failure);
    } else if (type === 'invocationresult') {
      const error = plainBody(fail('payload_too_large', { what: 'result', bytes, limit }));
      this.settle(session, { type: 'invocationresult', invocation_id: invocationId, error });
    }
  }

  /** Ends every call the session is part of. */
  stopSession(session: Session): void {
    for (const call of session.serving) this.#settle.breakOff(call);
    for (const call of session.calling) this.#settle.abandon(call, 'CANCELLED');
  }

  /** Ends every call of a principal, in any of its sessions. */
  stopPrincipal(id: string): void {
    for (const call of [...this.#open.values()]) {
      if (!isOrActsFor(call.principal, id)) continue;
      this.#settle.abandon(call, 'CANCELLED');
      this.#settle.refuse(call.waiting, call.functionId, fail('CANCELLED', {}));
    }
  }

  /** Calls of workers that wait for an answer, oldest first. */
  running(most: number): Call[] {
    const running: Call[] = [];
    for (const call of this.#open.values()) {
      if (running.length >= most) break;
      if (!isBuiltIn(call.executor)) running.push(call);
    }
    return running;
  }

  /** How many calls run, and how many wait for a person. */
  counts(): { running: number; waitingForApproval: number; waitingForResume: number } {
    const waitingForApproval = this.approvals.count;
    const waitingForResume = this.#paused.serving.size;
    return { running: this.#open.count - waitingForApproval - waitingForResume, waitingForApproval, waitingForResume };
  }

  close(): void {
    clearInterval(this.#sweeper);
    this.#events.close();
  }

  /**
   * The principal of a call. A peer in this process states it. Any other peer calls for itself, or for the caller of a
   * call that it executes right now.
   */
  #fromOf(session: Session, { caller, via, on_behalf_of }: InvokeFrame, waiting: Waiting | undefined): From {
    if (session.node)
      return { ...vouchedFor(session.node, { caller, via, on_behalf_of }, this.rights.ofNodes), waiting };
    if (session.isInProcess) {
      return { principal: (caller as Principal | undefined) ?? session.principal, via: via ?? undefined, waiting };
    }
    const outer = via == null ? undefined : this.#open.find(via);
    if (outer?.executor !== session) return { principal: principalFor(session, on_behalf_of), waiting };
    return { principal: outer.principal, via: outer.id, waiting };
  }

  #refusal(session: Session, { namespace, via }: InvokeFrame, from: From): Failure | undefined {
    if (namespace != null && namespace.trim() === '') return fail('INVALID_NAMESPACE', {});
    const limit = this.#limits.maxCallsInFlight;
    if (session.calling.size >= limit) return fail('too_many_calls', { limit });
    if (from.principal.grants === UNREADABLE) return fail('forbidden', { text: UNREADABLE_TEXT });
    // Refused, not treated as the peer's own call: that would have rights that the caller lacks.
    if (via == null || from.via === via) return undefined;
    return fail('forbidden', { text: `this connection does not work on call ${via.slice(0, 64)}, or no longer` });
  }

  /** Skips calls of the engine's own functions: every peer makes one to introduce itself. */
  #noteCaller({ function_id: id, namespace }: InvokeFrame, principal: Principal): void {
    const fn = this.#registry.find(id, namespace ?? DEFAULT_NAMESPACE);
    if (!fn || !isBuiltIn(fn.owner)) this.callers.called(principal);
  }

  #route(request: Request, from: From, refused?: Failure): void {
    const failure = refused ?? this.#send(request, from);
    if (failure) this.#refuse(request.frame, from, failure);
  }

  #refuse(frame: InvokeFrame, from: From, failure: Failure): void {
    const fn = this.#registry.find(frame.function_id, frame.namespace ?? DEFAULT_NAMESPACE);
    this.observed.refused(frame, from, { failure, fn, reading: Reading.of(fn?.metadata) });
    this.#settle.refuse(from.waiting, frame.function_id, failure);
  }

  /** A connection stays paused when it takes another name, and when it calls for others. */
  #isPaused(principal: Principal, session: Session | undefined): boolean {
    if (!this.callers.isAnyPaused) return false;
    const others = session && !session.isInProcess ? session.principals : [];
    return [principal, ...others].some((one) => this.callers.isPaused(one));
  }

  /** Dispatches waiting calls of callers that are not paused any more as if they came now. */
  #resume(): void {
    for (const { call, request } of this.#paused.take(
      (call, { session }) => !this.#isPaused(call.principal, session),
    )) {
      this.#open.end(call);
      this.#route(request, { ...call });
    }
  }

  #send(request: Request, from: From): Failure | undefined {
    const { function_id: id, namespace, action, data } = request.frame;
    const called = { id, namespace: namespace ?? DEFAULT_NAMESPACE };
    const fn = this.rights.find(called, request.session);
    if (fn instanceof Failure) return fn;
    const queue = action?.type === 'enqueue' ? action.queue : undefined;
    if (!fn && queue === undefined) {
      return request.session?.node ? notShared(called) : this.#dispatch.notFound(called);
    }

    const ruling = this.rights.authorize(from.principal, fn ?? called, {
      payload: data,
      isQueued: queue !== undefined,
    });
    if (from.principal.grants.policy !== undefined) from.rule = ruling.rule;
    if (ruling.failure) return ruling.failure;
    if (ruling.verdict === 'ask' && !this.approvals.covers(from, ruling)) {
      return this.approvals.ask(fn ?? called, request, from, ruling);
    }
    // A call made for a running call does not wait, so that the running one can end.
    const mayWait = from.via === undefined && !(fn && isBuiltIn(fn.owner));
    if (mayWait && this.#isPaused(from.principal, request.session)) {
      return this.#dispatch.handOver({ ...(fn ?? called), owner: this.#paused }, request, from);
    }
    return queue === undefined
      ? this.#dispatch.handOver(fn!, request, from)
      : this.#dispatch.enqueue(request, queue, from);
  }

  #endOverdue(): void {
    const limitMs = this.#limits.callDeadlineMs;
    for (const call of this.#open.begunBefore(Date.now() - limitMs)) {
      this.#settle.abandon(call, 'TIMEOUT');
      this.#settle.refuse(call.waiting, call.functionId, fail('TIMEOUT', { ms: limitMs }));
    }
  }
}
