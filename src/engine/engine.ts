/**
 * The bus without its sockets: joins sessions, functions, calls, triggers and channels.
 *
 * It knows no worker by name. A peer is a link, to a socket or within this process.
 */
import {
  announce,
  answer,
  silentLog,
  Watched,
  type AccessControl,
  type Audit,
  type Denial,
  type Log,
  type ReadMetrics,
  type Telemetry,
} from '#contract';
import { FEATURE_CANCEL, type Dialer, type EncodedFrame, type Frame, type FrameOf, type Link } from '#protocol';
import { BuiltIn } from './calls/built-in.ts';
import { Calls } from './calls/index.ts';
import { ChannelBroker } from './channels/channels.ts';
import type { OtherNodes } from './other-nodes.ts';
import { engineTriggerTypes, Events } from './events.ts';
import { engineBus } from './engine-bus.ts';
import { engineWorker } from './functions/index.ts';
import type { EngineContext } from './worker.ts';
import { defaultLimits, type EngineLimits } from './limits.ts';
import { inProcessDialer } from './in-process-dialer.ts';
import { FunctionRegistration, isRegistration, toFunction } from './function-registration.ts';
import { Registry, type RegisteredFunction } from './registry.ts';
import { DEFAULT_NAMESPACE } from './namespace.ts';
import { Session, type SessionOrigin } from './session.ts';
import { Metrics } from './telemetry/metrics.ts';
import { Triggers } from './triggers.ts';

export interface EngineOptions {
  limits?: Partial<EngineLimits>;
  log?: Log;
  /** Decides about calls of principals that have a policy. */
  access?: AccessControl | undefined;
  audit?: Audit | undefined;
  /** Data for a collector, if there is one. */
  telemetry?: Telemetry | undefined;
}

export class Engine {
  /** URL of its pages, once a server listens. */
  httpUrl: string | undefined;
  readonly limits: EngineLimits;
  readonly channels: ChannelBroker;
  readonly telemetry: Telemetry | undefined;
  readonly #log: Log;
  readonly #sessions = new Map<string, Session>();
  readonly #registry: Registry;
  readonly #triggers: Triggers;
  readonly #calls: Calls;
  readonly #registration: FunctionRegistration;
  readonly #events: Events;
  readonly #watched = new Watched();
  readonly #metrics = new Metrics(() => this.#queues());

  constructor(options: EngineOptions = {}) {
    this.#log = options.log ?? silentLog;
    this.limits = { ...defaultLimits, ...options.limits };
    this.channels = new ChannelBroker(this.limits);
    this.#registry = new Registry(() => this.functionsChanged());
    this.#triggers = new Triggers({ limits: this.limits, log: this.#log, engineTypes: engineTriggerTypes });
    this.#events = new Events({
      ...{ triggers: this.#triggers, registry: this.#registry, watched: this.#watched },
      fire: (...call) => this.#calls.fire(...call),
    });
    const { access, audit, telemetry } = options;
    this.telemetry = telemetry;
    telemetry?.collect(() => this.#metrics.read());
    const shared = { registry: this.#registry, limits: this.limits, log: this.#log };
    const observers = { watched: this.#watched, audit, metrics: this.#metrics.calls, telemetry };
    this.#calls = new Calls({ ...shared, ...observers, access });
    this.#registration = new FunctionRegistration({ ...shared, rights: this.#calls.rights });
    this.#registerBuiltIns();
  }

  /** Whether another peer may connect. */
  get hasRoom(): boolean {
    return this.#sessions.size < this.limits.maxSessions;
  }

  /** Accepts a new peer and greets it. */
  connect(link: Link, origin: SessionOrigin = {}): Session {
    const session = new Session(link, origin);
    this.#sessions.set(session.workerId, session);
    link.attach({
      frame: (frame, encoded) => this.#take(session, frame, encoded),
      oversized: (head) => this.#calls.refuseOversized(session, head),
      closed: (reason) => this.#disconnect(session, reason),
    });
    link.send({
      type: 'workerregistered',
      worker_id: session.workerId,
      reattach_token: session.reattachToken,
      features: [FEATURE_CANCEL],
    });
    if (!session.node) this.#events.workerChanged('worker_connected', session.workerId);
    return session;
  }

  /** Makes this engine a node: functions that it does not serve are resolved on other nodes. */
  join(otherNodes: OtherNodes): void {
    this.#registry.otherNodes = otherNodes;
  }

  /** Whether it can serve: without a cluster, always. */
  get isReady(): boolean {
    return this.#registry.otherNodes?.isReady ?? true;
  }

  /** The function that is served here. */
  find(id: string, namespace: string): RegisteredFunction | undefined {
    return this.#registry.find(id, namespace);
  }

  /** Functions that its own workers and peers serve. */
  get functions(): RegisteredFunction[] {
    return this.#registry.list();
  }

  /** Functions of this engine or of the cluster changed. */
  functionsChanged(): void {
    this.#events.functionsChanged();
    this.#watched.changed('functions');
  }

  /** Nodes of the cluster came, went, or report something else of themselves. */
  nodesChanged(): void {
    this.#watched.changed('nodes');
  }

  /** Calls back, a little later, when the set of functions may differ. */
  onFunctionsChanged(changed: () => void): void {
    this.#events.onFunctions.add(changed);
  }

  /** A token is no longer accepted: ends its connections and calls. */
  endToken(name: string): void {
    // First: a connection that ends fires triggers.
    this.#triggers.dropPrincipal(`token:${name}`);
    for (const session of this.#sessions.values()) {
      if (session.token === name) this.#end(session, 'the token was removed');
    }
    this.#calls.stopPrincipal(`token:${name}`);
  }

  /** Adds figures to its metrics. */
  addMetrics(source: ReadMetrics): void {
    this.#metrics.add(source);
  }

  /** The port refused a request. */
  turnedAway(code: string): void {
    this.#metrics.calls.turnedAway(code);
  }

  /** Denies functions to every caller, in one namespace. */
  deny(namespace: string, denial: Denial): void {
    this.#calls.rights.deny(namespace, denial);
  }

  /** Connects a peer in this process: same frames, no socket. */
  dialer(): Dialer {
    return inProcessDialer(this);
  }

  close(): void {
    for (const session of this.#sessions.values()) session.link.close('the engine is shutting down');
    this.#calls.close();
    this.channels.close();
    this.#events.close();
  }

  get #context(): EngineContext {
    return {
      registry: this.#registry,
      sessions: this.#sessions,
      triggers: this.#triggers,
      channels: this.channels,
      events: this.#events,
      watched: this.#watched,
      metrics: this.#metrics,
      calls: this.#calls,
    };
  }

  #queues() {
    const sessions = [...this.#sessions.values()];
    return {
      ...this.#calls.counts(),
      connections: sessions.length,
      channels: this.channels.count,
      unsentBytes: sessions.reduce((sum, { link }) => sum + (link.unsentBytes ?? 0), 0),
    };
  }

  #take(session: Session, frame: Frame, encoded?: EncodedFrame): void {
    if (!this.#sessions.has(session.workerId)) return;
    const limit = this.limits.maxRegistrationBytes;
    if (encoded && encoded.length > limit && isRegistration(frame)) {
      const fields = { type: frame.type, id: frame.id, worker: session.label, bytes: encoded.length, limit };
      return this.#log.warn('refused a registration that is too large', fields);
    }
    switch (frame.type) {
      case 'invokefunction':
        return this.#calls.take(session, frame, encoded);
      case 'invocationresult':
        return this.#calls.settle(session, frame, encoded);
      case 'invocationevent':
        return this.#calls.report(session, frame, encoded);
      case 'cancelinvocation':
        return this.#calls.cancel(session, frame.invocation_id, frame);
      case 'registerfunction':
        return this.#registration.take(session, frame);
      case 'unregisterfunction':
        return this.#registry.remove(frame.id, session.namespace, session);
      case 'registertriggertype':
        return this.#triggers.addType(session, frame);
      case 'unregistertriggertype':
        return this.#triggers.removeType(session, frame.id);
      case 'registertrigger':
        return this.#bindTrigger(session, frame);
      case 'unregistertrigger':
        return void this.#triggers.unbind(frame.id, session);
      case 'triggerregistrationresult':
        return this.#triggers.acknowledge(session, frame);
      case 'reattach':
        return this.#reattach(session, frame.previous_worker_id, frame.reattach_token);
      case 'ping':
        return void session.link.send({ type: 'pong' });
      case 'registerservice':
      case 'pong':
      case 'workerregistered':
      case 'registrationrejected':
        return;
    }
  }

  /**
   * A worker that fires a trigger calls with its own rights, the engine with those of the caller that bound it: a caller
   * may bind only functions that it may call.
   */
  #bindTrigger(session: Session, frame: FrameOf<'registertrigger'>): void {
    const failure = this.#calls.rights.whyNotBind(
      session.principal,
      frame.function_id,
      frame.namespace ?? DEFAULT_NAMESPACE,
    );
    if (failure) this.#triggers.refuse(session, frame, failure);
    else this.#triggers.bind(session, frame);
  }

  /** A reconnected client replaces its former session before it registers again. */
  #reattach(session: Session, formerId: string, token: string | null | undefined): void {
    const former = this.#sessions.get(formerId);
    if (!former || former === session || former.reattachToken !== token) return;
    this.#end(former, 'reattached on a new connection');
  }

  /** Disconnects before it closes: a peer that does not answer the close can send for as long as the socket waits. */
  #end(session: Session, reason: string): void {
    this.#disconnect(session, reason);
    session.link.close(reason);
  }

  #disconnect(session: Session, reason: string): void {
    if (!this.#sessions.delete(session.workerId)) return;
    this.#log.debug('a peer left', { worker: session.label, reason });
    this.#registry.removeAll(session);
    this.#calls.stopSession(session);
    this.#calls.callers.left(session.principal.id, this.#sessions.values());
    this.#calls.observed.contents.unwatch(session);
    this.#triggers.dropSession(session);
    if (!session.node) this.#events.workerChanged('worker_disconnected', session.workerId);
  }

  #registerBuiltIns(): void {
    for (const fn of engineWorker.functions) {
      const owner = new BuiltIn(fn, (def, call, around) =>
        answer({ def: engineWorker, context: this.#context }, def, call, { bus: engineBus, log: this.#log, ...around }),
      );
      this.#registry.add(toFunction(announce(engineWorker, fn), DEFAULT_NAMESPACE, owner));
    }
  }
}
