/**
 * Maps function ids to the workers that serve them.
 *
 * The first live owner of an id keeps it. A later claimant is notified and queued: when the owner leaves, the next one
 * serves, since no client registers a second time by itself.
 *
 * Ids of workers in this process are reserved. A peer that claims one is notified and not queued, or it would serve as
 * soon as a reload stops the worker; a peer that already has one loses it. Of two claims from this process the later
 * one serves: that is the reload, and the former finishes its calls.
 */
import type { Failure } from '#contract';
import type { BuiltIn } from './calls/built-in.ts';
import type { Executor } from './calls/executor.ts';
import { DEFAULT_NAMESPACE } from './namespace.ts';
import type { OtherNodes } from './other-nodes.ts';
import type { Session } from './session.ts';

export interface RegisteredFunction {
  id: string;
  namespace: string;
  namespaceNames?: readonly string[];
  description?: string | null;
  requestFormat?: unknown;
  responseFormat?: unknown;
  metadata?: unknown;
  owner: Session | BuiltIn;
}

/** Whether the engine itself serves it. */
export function isBuiltIn(owner: Executor): owner is BuiltIn {
  return 'builtIn' in owner;
}

/** Whether another node serves it. */
export function isFar(owner: Executor): boolean {
  return (owner as Partial<Session>).node !== undefined;
}

export class Registry {
  readonly #namespaces = new Map<string, Map<string, RegisteredFunction[]>>();
  readonly #owned = new Map<Session, Map<string, RegisteredFunction>>();
  readonly #changed: () => void;
  /** Functions of other nodes; absent without a cluster. */
  otherNodes: OtherNodes | undefined;

  /** `changed` is called whenever the set of served ids may differ. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  find(id: string, namespace: string = DEFAULT_NAMESPACE): RegisteredFunction | undefined {
    return this.#namespaces.get(namespace)?.get(id)?.[0];
  }

  /** As `find`, and also on other nodes. Returns a failure for a known node that cannot be called now. */
  resolve(id: string, namespace: string = DEFAULT_NAMESPACE): RegisteredFunction | Failure | undefined {
    const own = this.find(id, namespace);
    return this.otherNodes ? this.otherNodes.resolve(id, namespace, own) : own;
  }

  /** Adds a claim. Returns the function that already owns the id, if another one does. */
  add(fn: RegisteredFunction): RegisteredFunction | undefined {
    const { id, namespace, owner } = fn;
    const current = this.find(id, namespace);
    if (current && isPeer(owner) && !isPeer(current.owner)) return current;
    if (!isBuiltIn(owner) && !isPeer(owner)) this.#evictPeers(fn, owner);

    if (!isBuiltIn(owner)) this.#ownedOf(owner).set(id, fn);
    const functions = this.#functionsOf(namespace);
    const claims = functions.get(id) ?? [];
    const own = claims.findIndex((claim) => claim.owner === owner);
    if (own >= 0) claims[own] = fn;
    else if (isPeer(owner)) claims.push(fn);
    else claims.unshift(fn);
    functions.set(id, claims);
    this.#changed();
    return claims[0] === fn ? undefined : claims[0];
  }

  /** Drops the owner's claim on an id; other owners' claims stay. */
  remove(id: string, namespace: string, owner: Session): void {
    this.#drop(namespace, id, owner);
    this.#changed();
  }

  removeAll(owner: Session): void {
    for (const fn of this.ownedBy(owner)) this.#drop(fn.namespace, fn.id, owner);
    this.#owned.delete(owner);
    this.#changed();
  }

  /** Moves all claims of a session to another namespace. Returns the ids it does not own there. */
  move(owner: Session, namespace: string): RegisteredFunction[] {
    const functions = this.ownedBy(owner);
    this.removeAll(owner);
    return functions.filter((fn) => this.add({ ...fn, namespace }) !== undefined);
  }

  /** Ids that a session claims, served or queued. */
  ownedBy(owner: Session): RegisteredFunction[] {
    return [...(this.#owned.get(owner)?.values() ?? [])];
  }

  countOwnedBy(owner: Session): number {
    return this.#owned.get(owner)?.size ?? 0;
  }

  /** Served functions, by namespace and id in byte order. */
  list(): RegisteredFunction[] {
    const served = [...this.#namespaces.values()].flatMap((functions) =>
      [...functions.values()].map(([first]) => first!),
    );
    return served.toSorted((a, b) => compareText(a.id, b.id) || compareText(a.namespace, b.namespace));
  }

  /** As `list`, with the functions that other nodes share; with a namespace, also those of a node. */
  listAll(namespace?: string): RegisteredFunction[] {
    const far = this.otherNodes?.list(namespace) ?? [];
    if (far.length === 0) return this.list();
    const here = this.list();
    const known = new Set(here.map((fn) => `${fn.namespace} ${fn.id}`));
    return [...here, ...far.filter((fn) => !known.has(`${fn.namespace} ${fn.id}`))];
  }

  /** Namespaces other than the given one that serve this id. */
  namespacesOf(id: string, except: string): string[] {
    const here = [...this.#namespaces]
      .filter(([name, functions]) => name !== except && functions.has(id))
      .map(([name]) => name);
    return [...here, ...(this.otherNodes?.nodesWith(id) ?? [])];
  }

  #functionsOf(namespace: string): Map<string, RegisteredFunction[]> {
    let functions = this.#namespaces.get(namespace);
    if (!functions) this.#namespaces.set(namespace, (functions = new Map<string, RegisteredFunction[]>()));
    return functions;
  }

  #ownedOf(owner: Session): Map<string, RegisteredFunction> {
    let owned = this.#owned.get(owner);
    if (!owned) this.#owned.set(owner, (owned = new Map<string, RegisteredFunction>()));
    return owned;
  }

  #evictPeers({ id, namespace }: RegisteredFunction, newOwner: Session): void {
    for (const { owner } of this.#namespaces.get(namespace)?.get(id) ?? []) {
      if (!isPeer(owner)) continue;
      this.#drop(namespace, id, owner);
      owner.refuseFunction(id, newOwner.workerId);
    }
  }

  #drop(namespace: string, id: string, owner: Session): void {
    this.#owned.get(owner)?.delete(id);
    const functions = this.#namespaces.get(namespace);
    const rest = functions?.get(id)?.filter((claim) => claim.owner !== owner);
    if (!functions || !rest) return;

    if (rest.length > 0) functions.set(id, rest);
    else functions.delete(id);
    if (functions.size === 0) this.#namespaces.delete(namespace);
  }
}

/** Whether it is a remote peer: neither the engine nor a worker in its process. */
function isPeer(owner: Session | BuiltIn): owner is Session {
  return !isBuiltIn(owner) && !owner.isInProcess;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
