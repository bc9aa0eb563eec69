/** The other nodes: known by their reports, linked to this engine, and gone when their lease ends. */
import type { Log } from '#contract';
import type { Engine } from '#engine';
import { MAX_PEERS } from '../limits.ts';
import { NodeLink, type LinkParts } from '../node-link.ts';
import type { NodeReport } from '../wire/node-report.ts';
import { senderOf, type Address } from '../wire/subjects.ts';
import { whyGone, type Ending, type LostNodes } from './lost-nodes.ts';
import type { OwnNode } from './own-node.ts';
import { Peer } from './peer.ts';

interface MembersParts {
  engine: Engine;
  link: LinkParts;
  lost: LostNodes;
  ownNode: OwnNode;
  log: Log;
  /** Called when a node is gone. */
  onLost: (peer: Peer) => void;
}

/** A report, compared with the one before it. */
export interface Heard {
  readonly peer: Peer;
  readonly former: NodeReport | undefined;
}

export class Members {
  readonly #peers = new Map<string, Peer>();
  readonly #bySubject = new Map<string, Peer>();
  readonly #parts: MembersParts;

  constructor(parts: MembersParts) {
    this.#parts = parts;
  }

  /** Peers by id. */
  get peers(): ReadonlyMap<string, Peer> {
    return this.#peers;
  }

  /** The peer at this address; created when there is room, since a call may come before the first report. */
  at(address: Address): Peer | undefined {
    const known = this.#peers.get(address.id);
    if (known) return known.address.name === address.name ? known : undefined;
    const { engine, link: parts, lost } = this.#parts;
    // Answers of a node may arrive after its goodbye.
    if (lost.hasLeft(address.id) || this.#peers.size >= MAX_PEERS || !engine.hasRoom) return undefined;
    const link = new NodeLink(address, parts);
    const session = engine.connect(link, { remoteAddress: `nats:${address.name}`, node: address });
    const peer = new Peer(link, session, performance.now());
    this.#peers.set(address.id, peer);
    lost.found(address);
    return peer;
  }

  /** The sender of a message: a peer's subjects stay the same, so each is read once. */
  sender(subject: string): Peer | undefined {
    const known = this.#bySubject.get(subject);
    if (known) return known;
    const from = senderOf(subject);
    const peer = from && this.at(from);
    if (peer) this.#bySubject.set(subject, peer);
    return peer;
  }

  /** Takes a report. Undefined when there is no room for its sender. */
  report(from: Address, report: NodeReport): Heard | undefined {
    const peer = this.at(from);
    if (!peer) return undefined;
    const former = peer.report;
    peer.report = report;
    this.#parts.ownNode.heard(from, report);
    peer.heard(performance.now());
    if (!former) this.#welcome(peer, report);
    return { peer, former };
  }

  lose(peer: Peer, ending: Ending): void {
    const { lost, ownNode, log, onLost } = this.#parts;
    if (!this.#peers.delete(peer.address.id)) return;
    this.#bySubject.clear();
    ownNode.heard(peer.address);
    log.info('a node is gone', { node: peer.address.name, why: whyGone(ending) });
    // Before the link closes: answers to its calls give this reason.
    lost.add(peer.address, ending, performance.now());
    peer.link.close(whyGone(ending));
    onLost(peer);
  }

  /** A node that was silent before may still leave. */
  left(address: Address): void {
    const peer = this.#peers.get(address.id);
    if (peer) this.lose(peer, 'left');
    else this.#parts.lost.left(address);
  }

  loseAll(ending: Ending): void {
    for (const peer of this.#peers.values()) this.lose(peer, ending);
  }

  /** A restarted node keeps its name: its former process is gone. */
  #welcome({ address }: Peer, { joined_ms }: NodeReport): void {
    const { name, id } = address;
    this.#parts.log.info('a node joined', { node: name });
    for (const former of this.#peers.values()) {
      const isSameName = former.address.name === name && former.address.id !== id;
      if (isSameName && (former.report?.joined_ms ?? 0) < joined_ms) this.lose(former, 'restarted');
    }
  }
}
