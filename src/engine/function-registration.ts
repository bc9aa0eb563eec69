/** Functions that peers offer: which are accepted and which are refused, with the message to the peer. */
import type { Log } from '#contract';
import type { Frame, FrameOf } from '#protocol';
import type { Rights } from './calls/rights.ts';
import type { EngineLimits } from './limits.ts';
import { isBuiltIn, type RegisteredFunction, type Registry } from './registry.ts';
import type { Session } from './session.ts';

/** The id by which policies decide about offering functions. */
const SERVE = 'engine::functions::serve';

interface Parts {
  registry: Registry;
  limits: EngineLimits;
  log: Log;
  rights: Rights;
}

export class FunctionRegistration {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  take(session: Session, frame: FrameOf<'registerfunction'>): void {
    const { registry, limits, log, rights } = this.#parts;
    if (!rights.mayCall(session.principal, SERVE)) {
      this.#warn(session, frame.id, 'its policy');
      return session.refuseFunction(frame.id, 'engine');
    }
    const present = registry.find(frame.id)?.owner;
    if (present && isBuiltIn(present)) {
      this.#warn(session, frame.id, 'the engine answers this id itself');
      return session.refuseFunction(frame.id, 'engine');
    }
    const limit = limits.maxFunctionsPerSession;
    if (registry.countOwnedBy(session) >= limit) return this.#warn(session, frame.id, `more than ${limit} functions`);

    if (!session.isWorker) session.becomeWorker();
    const fn = toFunction(frame, session.namespace, session);
    const owner = (registry.add(fn) ?? this.#servedElsewhere(fn))?.owner;
    if (!owner || isBuiltIn(owner)) return;
    const fields = { function: frame.id, worker: session.label };
    log.warn('a function id is taken; the first live owner keeps it', fields);
    session.refuseFunction(frame.id, owner.workerId);
  }

  /** The function of another node that serves the id instead; this one takes over when that node leaves. */
  #servedElsewhere({ id, namespace, owner }: RegisteredFunction): RegisteredFunction | undefined {
    const serving = this.#parts.registry.resolve(id, namespace);
    return serving && 'owner' in serving && serving.owner !== owner ? serving : undefined;
  }

  #warn(session: Session, id: string, why: string): void {
    this.#parts.log.warn('refused a function', { function: id, worker: session.label, why });
  }
}

type Announced = Omit<FrameOf<'registerfunction'>, 'type'>;

export function toFunction(
  { id, description, request_format, response_format, metadata }: Announced,
  namespace: string,
  owner: RegisteredFunction['owner'],
): RegisteredFunction {
  const formats = { requestFormat: request_format, responseFormat: response_format };
  return { id, namespace, description, ...formats, metadata, owner };
}

/** Frames that the engine keeps as long as their session. */
export function isRegistration(
  frame: Frame,
): frame is FrameOf<'registerfunction' | 'registertrigger' | 'registertriggertype'> {
  return ['registerfunction', 'registertrigger', 'registertriggertype'].includes(frame.type);
}
