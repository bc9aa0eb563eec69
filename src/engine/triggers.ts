/**
 * Trigger types (event sources with a provider) and triggers (a type and config bound to a function).
 *
 * A binding whose provider is absent or refused it is parked, and handed over when the type appears
 * (again). Binders get failures only: the protocol has no acknowledgement.
 */
import type { Failure, Log, Principal } from '#contract';
import type { ErrorBody, FrameOf } from '#protocol';
import { fail, plainBody } from './errors.ts';
import type { EngineLimits } from './limits.ts';
import { DEFAULT_NAMESPACE } from './namespace.ts';
import type { Session } from './session.ts';
import { isOrActsFor, withoutApproval } from './session-principal.ts';

export interface TriggerType {
  id: string;
  description: string;
  requestFormat?: unknown;
  callFormat?: unknown;
  /** A worker, or the engine itself. */
  provider: Session | 'engine';
}

export interface Trigger {
  id: string;
  type: string;
  functionId: string;
  namespace: string;
  config: unknown;
  metadata?: unknown;
  /** The caller that bound it, without the right to approve: events of the engine are calls with its rights. */
  principal: Principal;
  /** Absent for a durable binding, which outlives the connection that made it. */
  binder?: Session;
  isParked: boolean;
}

type Ack = (error?: ErrorBody) => void;

const ACK_MS = 10_000;

export class Triggers {
  readonly types = new Map<string, TriggerType>();
  readonly bindings = new Map<string, Trigger>();
  readonly #acks = new Map<string, Ack>();
  readonly #limits: EngineLimits;
  readonly #log: Log;

  constructor(parts: { limits: EngineLimits; log: Log; engineTypes: { id: string; description: string }[] }) {
    this.#limits = parts.limits;
    this.#log = parts.log;
    for (const type of parts.engineTypes) this.types.set(type.id, { ...type, provider: 'engine' });
  }

  addType(provider: Session, frame: FrameOf<'registertriggertype'>): void {
    const limit = this.#limits.maxTriggerTypesPerSession;
    const isOverLimit = count(this.types.values(), (type) => type.provider === provider) >= limit;
    if (isOverLimit || this.types.get(frame.id)?.provider === 'engine') {
      this.#log.warn('refused a trigger type', { type: frame.id, worker: provider.label });
      return;
    }
    this.types.set(frame.id, {
      id: frame.id,
      description: frame.description ?? '',
      requestFormat: frame.trigger_request_format,
      callFormat: frame.call_request_format,
      provider,
    });
    for (const trigger of this.bindingsOf(frame.id)) this.#handOver(trigger);
  }

  removeType(provider: Session, id: string): void {
    if (this.types.get(id)?.provider !== provider) return;
    this.types.delete(id);
    for (const trigger of this.bindingsOf(id)) trigger.isParked = true;
  }

  /** Binds for as long as the connection lives. */
  bind(binder: Session, frame: FrameOf<'registertrigger'>): void {
    const trigger = toTrigger(frame, binder);
    const limit = this.#limits.maxTriggersPerSession;
    const existing = this.bindings.get(frame.id);
    const isForeign = existing !== undefined && existing.binder !== binder;
    const isOverLimit = !existing && count(this.bindings.values(), (other) => other.binder === binder) >= limit;
    if (isForeign || isOverLimit) {
      const text = isForeign ? `trigger id ${frame.id} is in use` : `the engine allows ${limit} triggers a connection`;
      return this.#notifyBinder(trigger, plainBody(fail('trigger_registration_failed', { text })));
    }
    this.#bind(trigger);
  }

  refuse(binder: Session, frame: FrameOf<'registertrigger'>, failure: Failure): void {
    this.#notifyBinder(toTrigger(frame, binder), plainBody(failure));
  }

  /** Binds beyond any connection and waits for the provider's result, or long enough to assume success. */
  async bindDurably(trigger: Omit<Trigger, 'isParked' | 'binder'>): Promise<void> {
    const limit = this.#limits.maxTriggersPerSession;
    if (count(this.bindings.values(), (other) => other.binder === undefined) >= limit) {
      throw fail('limit_reached', { what: 'durable triggers: remove one first', limit });
    }
    const maxBytes = this.#limits.maxRegistrationBytes;
    const bytes = Buffer.byteLength(JSON.stringify(trigger));
    if (bytes > maxBytes) {
      const what = `bytes in a durable trigger, not ${bytes}: shorten its config or metadata`;
      throw fail('limit_reached', { what, limit: maxBytes });
    }
    const bound = { ...trigger, isParked: true };
    this.#bind(bound);
    if (bound.isParked || this.types.get(trigger.type)?.provider === 'engine') return;

    const error = await this.#awaitAck(trigger.id);
    if (!error) return;
    this.bindings.delete(trigger.id);
    throw fail('trigger_registration_failed', { text: error.message });
  }

  /** Removes a binding; only its binder may, unless it is durable. */
  unbind(id: string, by?: Session): boolean {
    const trigger = this.bindings.get(id);
    if (!trigger || (trigger.binder !== undefined && trigger.binder !== by)) return false;
    this.#remove(trigger);
    return true;
  }

  /** A provider's result for a binding. Only the owner of the type may report. */
  acknowledge(from: Session, frame: FrameOf<'triggerregistrationresult'>): void {
    const trigger = this.bindings.get(frame.id);
    if (!trigger || this.types.get(trigger.type)?.provider !== from) return;

    const error = frame.error ? { code: frame.error.code, message: frame.error.message } : undefined;
    this.#acks.get(frame.id)?.(error);
    if (!error) return;
    trigger.isParked = true;
    this.#notifyBinder(trigger, error);
  }

  /** Removes the triggers of the session and parks those that depended on its types. */
  dropSession(session: Session): void {
    for (const trigger of this.bindings.values()) if (trigger.binder === session) this.#remove(trigger);
    for (const type of this.types.values()) if (type.provider === session) this.removeType(session, type.id);
  }

  /** Removes the triggers of a principal whose token was removed, durable ones too. */
  dropPrincipal(id: string): void {
    for (const trigger of this.bindings.values()) if (isOrActsFor(trigger.principal, id)) this.#remove(trigger);
  }

  #bind(trigger: Trigger): void {
    this.bindings.set(trigger.id, trigger);
    this.#handOver(trigger);
    if (this.types.has(trigger.type)) return;
    const { id, type, functionId, binder } = trigger;
    this.#log.warn('a trigger waits for a worker that offers its type', {
      type,
      trigger: id,
      function: functionId,
      worker: binder?.label,
    });
  }

  #handOver(trigger: Trigger): void {
    const provider = this.types.get(trigger.type)?.provider;
    trigger.isParked = provider === undefined;
    if (provider === undefined || provider === 'engine') return;
    provider.link.send({
      type: 'registertrigger',
      id: trigger.id,
      trigger_type: trigger.type,
      function_id: trigger.functionId,
      ...(trigger.namespace === DEFAULT_NAMESPACE ? {} : { namespace: trigger.namespace }),
      config: trigger.config ?? null,
      ...(trigger.metadata === undefined ? {} : { metadata: trigger.metadata }),
    });
  }

  #remove(trigger: Trigger): void {
    this.bindings.delete(trigger.id);
    const provider = this.types.get(trigger.type)?.provider;
    if (provider === undefined || provider === 'engine' || trigger.isParked) return;
    provider.link.send({ type: 'unregistertrigger', id: trigger.id, trigger_type: trigger.type });
  }

  #awaitAck(id: string): Promise<ErrorBody | undefined> {
    return new Promise((resolve) => {
      const finish: Ack = (error) => {
        clearTimeout(timer);
        this.#acks.delete(id);
        resolve(error);
      };
      const timer = setTimeout(finish, ACK_MS);
      this.#acks.set(id, finish);
    });
  }

  #notifyBinder({ id, type, functionId, binder }: Trigger, error: ErrorBody): void {
    const about = { id, trigger_type: type, function_id: functionId };
    binder?.link.send({ type: 'triggerregistrationresult', ...about, error });
  }

  bindingsOf(typeId: string): Trigger[] {
    return [...this.bindings.values()].filter((trigger) => trigger.type === typeId);
  }
}

function toTrigger(frame: FrameOf<'registertrigger'>, binder: Session): Trigger {
  return {
    id: frame.id,
    type: frame.trigger_type,
    functionId: frame.function_id,
    namespace: frame.namespace ?? DEFAULT_NAMESPACE,
    config: frame.config ?? null,
    metadata: frame.metadata,
    // Computed for each event: SDKs send their name after they bind.
    get principal() {
      return withoutApproval(binder.principal);
    },
    binder,
    isParked: true,
  };
}

function count<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let total = 0;
  for (const item of items) if (isCounted(item)) total++;
  return total;
}
