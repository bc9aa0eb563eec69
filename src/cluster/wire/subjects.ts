/**
 * Names of NATS subjects. The sender comes last, so that permissions of the server can limit a node to its own name.
 *
 * The prefix has the version of the protocol: nodes of another version are in another cluster.
 */
export const PROTOCOL = 'wc1';

/** One process of a node: a restarted node has another id. */
export interface Address {
  readonly name: string;
  /** 8 hex digits, random at each start. */
  readonly id: string;
}

export type ToNode = 'call' | 'result' | 'cancel' | 'ask' | 'piece' | 'block' | 'chan';
/** `beat` is a heartbeat, the sender's report. `join` asks whether a node has the id of the sender. */
export type ToAll = 'beat' | 'hello' | 'leave' | 'join';

const ID = /^[0-9a-f]{8}$/;

export class Subjects {
  readonly #prefix: string;
  readonly #self: Address;

  constructor(cluster: string, self: Address) {
    this.#prefix = `${PROTOCOL}.${cluster}`;
    this.#self = self;
  }

  toNode(kind: ToNode, to: Address): string {
    return `${this.#prefix}.${to.name}.${to.id}.${kind}.${this.#self.name}.${this.#self.id}`;
  }

  toAll(kind: ToAll): string {
    return `${this.#prefix}.all.${kind}.${this.#self.name}.${this.#self.id}`;
  }

  /** The reply subject of a call: only the server publishes there, when `to` has no subscriber. */
  unheard(to: Address, callId: string): string {
    return `${this.#prefix}.${this.#self.name}.${this.#self.id}.unheard.${to.name}.${to.id}.${callId}`;
  }

  /** The subject by which a starting node asks whether another has its name. */
  get ownName(): string {
    return `${this.#prefix}.${this.#self.name}.name.${this.#self.name}.${this.#self.id}`;
  }

  get fromOwnName(): string {
    return `${this.#prefix}.${this.#self.name}.name.${this.#self.name}.*`;
  }

  fromNodes(kind: ToNode): string {
    return `${this.#prefix}.${this.#self.name}.${this.#self.id}.${kind}.*.*`;
  }

  get fromUnheard(): string {
    return `${this.#prefix}.${this.#self.name}.${this.#self.id}.unheard.*.*.*`;
  }

  fromAll(kind: ToAll): string {
    return `${this.#prefix}.all.${kind}.*.*`;
  }
}

/** The sender, from the last two parts of a subject. */
export function senderOf(subject: string): Address | undefined {
  const [name, id] = subject.split('.').slice(-2);
  return name !== undefined && id !== undefined && ID.test(id) ? { name, id } : undefined;
}

/** The node and the call of a `unheard` subject. */
export function unheardCall(subject: string): { to: Address; callId: string } | undefined {
  const [name, id, callId] = subject.split('.').slice(-3);
  return name !== undefined && id !== undefined && callId !== undefined ? { to: { name, id }, callId } : undefined;
}
