/**
 * Which node serves a function: by the node's name as namespace, or by the id alone for functions that nodes offer to
 * all.
 */
import type { Failure, Scope } from '#contract';
import {
  DEFAULT_NAMESPACE as DEFAULT,
  engineErrors,
  isBuiltIn,
  splitNamespace,
  type Engine,
  type RegisteredFunction,
} from '#engine';
import { workerSegment } from '#protocol';
import type { ClusterSettings } from '../settings.ts';
import type { AnnouncedFunction, AnnouncedWorker } from './catalogue.ts';
import type { LostNodes } from './lost-nodes.ts';
import type { Peer } from './peer.ts';
import { scopeOf } from './scope.ts';

/** Most nodes that a message names. */
const MOST_NAMED = 5;
/** Functions of the engine that every node answers to others. */
const ALWAYS_SHARED = new Set<string>(['engine::nodes::drain']);

interface Claim {
  fn: RegisteredFunction;
  peer: Peer;
  scope: Scope;
  sinceMs: number;
}

interface DirectoryParts {
  /** The id of this node. */
  selfId: string;
  engine: Engine;
  settings: ClusterSettings;
  peers: ReadonlyMap<string, Peer>;
  lost: LostNodes;
}

export class Directory {
  readonly #selfId: string;
  readonly #engine: Engine;
  readonly #settings: ClusterSettings;
  readonly #peers: ReadonlyMap<string, Peer>;
  readonly #workers = new Map<Peer, readonly AnnouncedWorker[]>();
  readonly #lost: LostNodes;
  readonly #shared = new WeakMap<RegisteredFunction, { info: object | undefined; isShared: boolean }>();
  /** Cache of a peer's functions that were called, valid while it announces the same. */
  readonly #resolved = new Map<Peer, Map<string, RegisteredFunction>>();
  /** Cache of peers by name: a call does not search all of them. */
  readonly #byName = new Map<string, Peer>();
  #claims = new Map<string, Claim[]>();

  constructor({ selfId, engine, settings, peers, lost }: DirectoryParts) {
    this.#selfId = selfId;
    this.#engine = engine;
    this.#settings = settings;
    this.#peers = peers;
    this.#lost = lost;
  }

  /** Replaces the functions that a peer announces. */
  set(peer: Peer, workers: readonly AnnouncedWorker[]): void {
    this.#workers.set(peer, workers);
    this.#resolved.set(peer, new Map());
    this.#index();
  }

  remove(peer: Peer): void {
    this.#workers.delete(peer);
    this.#resolved.delete(peer);
    this.#byName.delete(peer.address.name);
    this.#index();
  }

  get announced(): Set<readonly AnnouncedFunction[]> {
    return new Set([...this.#workers.values()].flatMap((workers) => workers.map(({ functions }) => functions)));
  }

  countOf(peer: Peer): number {
    return (this.#workers.get(peer) ?? []).reduce((sum, { functions }) => sum + functions.length, 0);
  }

  resolve(
    id: string,
    namespace: string,
    own: RegisteredFunction | undefined,
  ): RegisteredFunction | Failure | undefined {
    if (namespace === DEFAULT) return this.#serving(id, own);
    if (own) return own;
    const { node, inner } = splitNamespace(namespace);
    if (this.#isSelf(node)) {
      const found = this.namespacesHere(namespace).map((here) => this.#engine.find(id, here));
      return found.find((fn) => fn && scopeOf(fn) !== 'door');
    }
    const peer = this.#named(node);
    if (peer) return this.#onNode(peer, id, namespace, inner);
    const why = this.#lost.whyNot(node, performance.now());
    if (why === undefined) return undefined;
    return engineErrors.fail('channel_send_failed', { id, why: `node ${node} is not reachable (${why})` });
  }

  /** A worker that every node has for itself is in the namespace of the node's name. */
  namespacesHere(namespace: string): string[] {
    const { node, inner } = splitNamespace(namespace);
    if (!this.#isSelf(node)) return [namespace];
    return inner === DEFAULT ? [this.#settings.node, DEFAULT] : [inner];
  }

  /** Cached with the name of its worker: a worker may send its name after its functions. */
  isShared(fn: RegisteredFunction): boolean {
    const info = isBuiltIn(fn.owner) ? undefined : fn.owner.info;
    const known = this.#shared.get(fn);
    if (known && known.info === info) return known.isShared;
    const isShared = this.#decideShared(fn);
    this.#shared.set(fn, { info, isShared });
    return isShared;
  }

  #decideShared(fn: RegisteredFunction): boolean {
    const scope = scopeOf(fn);
    if (scope === 'door') return false;
    if (scope !== 'host' || ALWAYS_SHARED.has(fn.id)) return true;
    const { share } = this.#settings;
    const [worker] = (isBuiltIn(fn.owner) ? undefined : fn.owner.info?.name)?.split('@') ?? [];
    return [fn.id, workerSegment(fn.id), worker].some((name) => name !== undefined && share.includes(name));
  }

  nodesWith(id: string): string[] {
    const names: string[] = [];
    for (const [peer, workers] of this.#workers) {
      if (names.length >= MOST_NAMED) break;
      if (workers.some(({ functions }) => functions.some((fn) => fn.id === id))) names.push(peer.address.name);
    }
    return names;
  }

  list(namespace?: string): RegisteredFunction[] {
    const shared = [...this.#claims].map(([id]) => this.#serving(id, undefined)!);
    if (namespace === undefined) return shared;
    const { node, inner } = splitNamespace(namespace);
    if (this.#isSelf(node)) return [...shared, ...this.#ownIn(namespace)];
    const peer = this.#named(node);
    if (!peer) return shared;
    const rows = (this.#workers.get(peer) ?? []).filter((worker) => isIn(worker, peer, inner));
    return [...shared, ...rows.flatMap(({ functions }) => functions.map((fn) => toFunction(fn, namespace, peer)))];
  }

  /** Functions of the local namespaces that this node's own name stands for. */
  #ownIn(namespace: string): RegisteredFunction[] {
    const meant = this.namespacesHere(namespace);
    const own = this.#engine.functions.filter((fn) => meant.includes(fn.namespace) && scopeOf(fn) !== 'door');
    return own.map((fn) => ({ ...fn, namespace }));
  }

  /** The claim that serves an id of scope `one` or `any`. Every node chooses the same, the oldest. */
  #serving(id: string, own: RegisteredFunction | undefined): RegisteredFunction | undefined {
    const ownScope = own && scopeOf(own);
    if (own && ownScope !== 'one') return own;
    const claims = this.#claims.get(id) ?? [];
    const oldest = claims.find(({ scope }) => scope === 'one');
    if (own) return oldest && this.#isBefore(oldest, own) ? oldest.fn : own;
    return oldest?.fn ?? lessBusyOfTwo(claims)?.fn;
  }

  /** As `#index` orders the claims of others. */
  #isBefore({ sinceMs, peer }: Claim, own: RegisteredFunction): boolean {
    const ownSinceMs = sinceOf(own);
    return sinceMs === ownSinceMs ? peer.address.id < this.#selfId : sinceMs < ownSinceMs;
  }

  #onNode(peer: Peer, id: string, namespace: string, inner: string): RegisteredFunction {
    const key = `${namespace} ${id}`;
    const kept = this.#resolved.get(peer)?.get(key);
    if (kept) return kept;
    const workers = this.#workers.get(peer) ?? [];
    const known = workers
      .filter((worker) => isIn(worker, peer, inner))
      .flatMap(({ functions }) => functions)
      .find((fn) => fn.id === id);
    const found = { ...toFunction(known ?? { id }, namespace, peer), namespaceNames: namesOf(inner, peer) };
    if (known) this.#resolved.get(peer)?.set(key, found);
    return found;
  }

  /** A node with this name, else the oldest with this alias. */
  #named(name: string): Peer | undefined {
    const known = this.#byName.get(name);
    if (known && this.#peers.get(known.address.id) === known) return known;
    const found = this.#search(name);
    if (found?.address.name === name) this.#byName.set(name, found);
    else this.#byName.delete(name);
    return found;
  }

  #search(name: string): Peer | undefined {
    const peers = [...this.#peers.values()].filter((peer) => peer.isNamed(name));
    const joined = (peer: Peer) => peer.report?.joined_ms ?? 0;
    const byName = peers.filter(({ address }) => address.name === name).toSorted((a, b) => joined(b) - joined(a));
    return byName[0] ?? peers.toSorted((a, b) => joined(a) - joined(b))[0];
  }

  #isSelf(name: string): boolean {
    return name === this.#settings.node || this.#settings.aliases.includes(name);
  }

  #index(): void {
    const index = new Map<string, Claim[]>();
    for (const [peer, workers] of this.#workers) {
      for (const { scope, namespace, sinceMs, functions } of workers) {
        if (namespace !== DEFAULT || scope === 'host' || scope === 'door') continue;
        for (const fn of functions) {
          const claims = index.get(fn.id) ?? [];
          claims.push({ fn: toFunction(fn, DEFAULT, peer), peer, scope, sinceMs });
          index.set(fn.id, claims);
        }
      }
    }
    for (const claims of index.values()) {
      claims.sort((a, b) => a.sinceMs - b.sinceMs || (a.peer.address.id < b.peer.address.id ? -1 : 1));
    }
    this.#claims = index;
    this.#engine.functionsChanged();
  }
}

function toFunction(fn: AnnouncedFunction, namespace: string, { session }: Peer): RegisteredFunction {
  const { id, description, request_format, response_format, metadata } = fn;
  const formats = { requestFormat: request_format, responseFormat: response_format };
  return { id, namespace, description, ...formats, metadata, owner: session };
}

/** All names of a namespace of the peer. There its own name is the default namespace too. */
function namesOf(inner: string, { address, report }: Peer): string[] {
  const names = [address.name, ...(report?.aliases ?? [])];
  if (inner !== DEFAULT && inner !== address.name) return names.map((name) => `${name}/${inner}`);
  return names.flatMap((name) => [name, `${name}/${DEFAULT}`, `${name}/${address.name}`]);
}

/** Whether a call of that namespace of the peer reaches the worker. */
function isIn({ namespace }: AnnouncedWorker, { address }: Peer, inner: string): boolean {
  return namespace === inner || (inner === DEFAULT && namespace === address.name);
}

function sinceOf({ owner }: RegisteredFunction): number {
  return isBuiltIn(owner) ? 0 : owner.connectedAtMs;
}

/** Chooses the less busy of two at random: taking the least busy of all would send every node to the same one. */
function lessBusyOfTwo(claims: readonly Claim[]): Claim | undefined {
  const pick = () => claims[Math.floor(Math.random() * claims.length)];
  const [a, b] = [pick(), pick()];
  return a && b && b.peer.link.calls.size < a.peer.link.calls.size ? b : a;
}
