/** Finds the function of a call, here or on another node, and decides whether a principal may call it or bind it. */
import { Failure, type AccessControl, type CalledFunction, type Denial, type Principal } from '#contract';
import { fail } from '../errors.ts';
import { DEFAULT_NAMESPACE } from '../namespace.ts';
import { isFar, type RegisteredFunction, type Registry } from '../registry.ts';
import type { Session } from '../session.ts';
import { Policies, type Ruling } from './authorize.ts';
import type { Executor } from './executor.ts';

export class Rights {
  readonly #registry: Registry;
  readonly #policies: Policies;

  constructor(registry: Registry, access: AccessControl | undefined) {
    this.#registry = registry;
    this.#policies = new Policies(access);
  }

  /** The policy of callers at other nodes. */
  get ofNodes(): string | undefined {
    return this.#policies.ofNodes;
  }

  /** Denies to every caller, in one namespace. */
  deny(namespace: string, denial: Denial): void {
    this.#policies.deny(namespace, denial);
  }

  /** The function that serves a call of the connection. */
  find({ id, namespace }: CalledFunction, session: Session | undefined): RegisteredFunction | Failure | undefined {
    return session?.node ? this.#findShared({ id, namespace }) : this.#registry.resolve(id, namespace);
  }

  /**
   * The owning node authorizes its functions by the grants sent; only local denials and policies are checked here.
   * Calls for a queue are authorized here: it sends no grants.
   */
  authorize(
    principal: Principal,
    fn: CalledFunction & { owner?: Executor },
    { payload, isQueued = false }: { payload?: unknown; isQueued?: boolean },
  ): Ruling {
    const isDecidedThere = fn.owner && isFar(fn.owner) && principal.grants.policy === undefined && !isQueued;
    return isDecidedThere ? this.#policies.byDenials(fn) : this.#policies.authorize(principal, fn, payload);
  }

  /** Whether a principal may call a function with any payload. */
  mayCall(principal: Principal, id: string, namespace = DEFAULT_NAMESPACE): boolean {
    const fn = this.#registry.find(id, namespace) ?? { id, namespace };
    return this.#policies.authorize(principal, fn, undefined).verdict === 'allow';
  }

  /**
   * Why a principal may not bind a trigger to a function. With a policy the function must be served, because its
   * declaration decides; its trigger may be fired by a worker, whose own rights are checked then.
   */
  whyNotBind(principal: Principal, id: string, namespace = DEFAULT_NAMESPACE): Failure | undefined {
    const fn = this.#registry.resolve(id, namespace);
    if (fn instanceof Failure) return fn;
    if (!fn && principal.grants.policy !== undefined) {
      const text = `${id} is not served, so the policy of ${principal.label} cannot be checked; bind it once its worker is connected`;
      return fail('forbidden', { text });
    }
    return this.forEvent(principal, fn ?? { id, namespace }).failure;
  }

  /** As `authorize`, for an event: no person is asked about it. */
  forEvent(principal: Principal, fn: CalledFunction & { owner?: Executor }, payload?: unknown): Ruling {
    const ruling = this.authorize(principal, fn, { payload });
    if (ruling.verdict !== 'ask') return ruling;
    const text = `${fn.id} may not be bound to a trigger: each call of it needs an approval`;
    return { ...ruling, failure: fail('forbidden', { text }) };
  }

  /**
   * For a call of another node: only functions served here, so that calls never travel in a circle, and only shared
   * ones.
   */
  #findShared({ id, namespace }: CalledFunction): RegisteredFunction | undefined {
    const { otherNodes } = this.#registry;
    const found = otherNodes?.namespacesHere(namespace).map((here) => this.#registry.find(id, here)) ?? [];
    return found.find((fn) => fn && otherNodes?.isShared(fn));
  }
}
