/** One connected peer: its identity, its features, and its current calls. */
import { randomUUID } from 'node:crypto';

import { callerKey, type Principal } from '#contract';
import {
  FEATURE_CALLER,
  FEATURE_CANCEL,
  FEATURE_CHANGES,
  FEATURE_EVENTS,
  type Link,
  type SendOutcome,
} from '#protocol';
import { forExecutor, forNode } from './calls/call-frames.ts';
import type { Call } from './calls/call.ts';
import type { Executor, Request } from './calls/executor.ts';
import { DEFAULT_NAMESPACE } from './namespace.ts';
import type { NodeName } from './other-nodes.ts';
import { principalOf } from './session-principal.ts';

/** A worker's report with `engine::workers::register`. */
export interface WorkerInfo {
  name: string;
  /** Null when the worker gave none. */
  description: string | null;
  runtime: string;
  version: string;
  os: string;
  pid?: number;
  isolation: string | null;
}

export interface SessionOrigin {
  /** Address of the peer; absent for a peer in this process. */
  remoteAddress?: string;
  /** Whether a page of this server is at the other end, by its Origin: no HTTP or MCP caller is. */
  isOwnPage?: boolean;
  /** The name of the token that it sent. */
  token?: string;
  /** The policy of that token, or of callers without one. */
  policy?: string | undefined;
  /** Whether it sent the operator's key, which only the server's user can read. */
  isOperator?: boolean;
  /** The node of the cluster that the peer is. */
  node?: NodeName;
}

/** Every node of a cluster has the features of this engine. */
const NODE_FEATURES = [FEATURE_CALLER, FEATURE_CANCEL, FEATURE_CHANGES, FEATURE_EVENTS];

export class Session implements Executor {
  readonly workerId = randomUUID();
  readonly reattachToken = randomUUID();
  readonly connectedAtMs = Date.now();
  readonly link: Link;
  readonly remoteAddress: string | undefined;
  readonly isOwnPage: boolean;
  readonly token: string | undefined;
  readonly policy: string | undefined;
  readonly isOperator: boolean;
  readonly node: NodeName | undefined;
  namespace = DEFAULT_NAMESPACE;
  #info: WorkerInfo | undefined;
  #isWorker = false;
  #principal: Principal | undefined;
  #client: Principal['client'];
  readonly #former: Principal[] = [];
  readonly features = new Set<string>();
  /** Calls this peer made and waits for. */
  readonly calling = new Set<Call>();
  /** Calls this peer is working on. */
  readonly serving = new Set<Call>();

  constructor(link: Link, origin: SessionOrigin) {
    this.link = link;
    this.remoteAddress = origin.remoteAddress;
    this.isOwnPage = origin.isOwnPage ?? false;
    this.token = origin.token;
    this.policy = origin.policy;
    this.isOperator = origin.isOperator ?? false;
    this.node = origin.node;
    if (this.node) for (const feature of NODE_FEATURES) this.features.add(feature);
  }

  /** The principal of its own calls. */
  get principal(): Principal {
    return (this.#principal ??= principalOf(this));
  }

  /** Its principals in lists: the present one, and those before it took its name or offered a function. */
  get principals(): readonly Principal[] {
    return [this.principal, ...this.#former];
  }

  /** Its program by the first name that it got: a new name does not make it another caller. */
  get client(): Principal['client'] {
    return this.#client;
  }

  get info(): WorkerInfo | undefined {
    return this.#info;
  }

  set info(info: WorkerInfo | undefined) {
    this.#info = info;
    this.#client ??= info && { name: info.name, version: info.version };
    this.#renew();
  }

  /** Whether it offers functions, or did. */
  get isWorker(): boolean {
    return this.#isWorker;
  }

  becomeWorker(): void {
    this.#isWorker = true;
    this.#renew();
  }

  execute(call: Call, request: Request): SendOutcome {
    if (this.node) return this.link.send(...forNode(call, request));
    const part = !this.features.has(FEATURE_CALLER) ? 'nothing' : this.isInProcess ? 'principal' : 'caller';
    const { frame, encoded } = forExecutor(call, request, part);
    return this.link.send(frame, encoded);
  }

  cancel(callId: string, { wait }: { wait: boolean }): void {
    // A worker answers in any case; another engine only if it gets `wait`.
    this.link.send({ type: 'cancelinvocation', invocation_id: callId, ...(this.node && wait && { wait }) });
  }

  /** Reports that another peer owns the id in this peer's namespace. */
  refuseFunction(functionId: string, ownerId: string): void {
    this.link.send({
      type: 'registrationrejected',
      code: 'FUNCTION_NAMESPACE_CONFLICT',
      namespace: this.namespace,
      owner_worker_id: ownerId,
      function_id: functionId,
    });
  }

  get isInProcess(): boolean {
    return this.remoteAddress === undefined;
  }

  /** Name in logs and lists: the reported one, else the id. */
  get label(): string {
    return this.info?.name ?? this.node?.name ?? this.workerId;
  }

  #renew(): void {
    const before = this.#principal;
    this.#principal = undefined;
    if (before && callerKey(before) !== callerKey(this.principal)) this.#former.push(before);
  }
}
