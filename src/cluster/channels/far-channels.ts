/** Channels across nodes: those of this node that others use, and those of others that are used here. */
import type { Channel, ChannelBroker } from '#engine';
import type { ChannelRef } from '#protocol';
import type { Peer } from '../members/peer.ts';
import type { Message, Wire } from '../wire/nats.ts';
import type { Subjects } from '../wire/subjects.ts';
import { pack, RequestHeadSchema, unpack } from './batch.ts';
import { IDLE_MS } from './limits.ts';
import { nearEnd } from './near-ends.ts';
import { ownedEnd, type OwnedEnd } from './owned-ends.ts';

interface FarChannelsParts {
  channels: ChannelBroker;
  wire: Wire;
  subjects: Subjects;
  /** By the id of the node. */
  peers: ReadonlyMap<string, Peer>;
}

export class FarChannels {
  readonly #parts: FarChannelsParts;
  /** By node, channel and direction. */
  readonly #owned = new Map<string, OwnedEnd & { from: string }>();

  constructor(parts: FarChannelsParts) {
    this.#parts = parts;
  }

  /** The channel of another node that a reference names; its id begins with that of the node. */
  find(ref: ChannelRef): Channel | undefined {
    const { peers, wire, subjects } = this.#parts;
    const owner = peers.get(ref.channel_id.slice(0, 8));
    if (!owner) return undefined;
    const subject = subjects.toNode('chan', owner.address);
    const isThere = () => peers.get(owner.address.id) === owner;
    return nearEnd(ref, (data, timeoutMs) => wire.request(subject, data, timeoutMs), isThere);
  }

  take(message: Message, { address }: Peer): void {
    const request = unpack(RequestHeadSchema, message.data);
    const respond = (reply: Uint8Array) => message.respond(reply);
    if (!request) return respond(pack({ gone: true }));
    const { head, items } = request;
    const key = `${address.id} ${head.id} ${head.dir}`;
    const end = this.#owned.get(key) ?? this.#open(key, address.id, head);
    if (end) end.take(head, items, respond);
    else respond(pack({ gone: true }));
  }

  /** Closes ends that a lost node used, and such that nothing asks for any more. */
  sweep(nowMs: number): void {
    for (const [key, end] of this.#owned) {
      if (this.#parts.peers.has(end.from) && nowMs - end.usedAtMs < IDLE_MS) continue;
      end.close();
      this.#owned.delete(key);
    }
  }

  #open(key: string, from: string, { id, key: accessKey, dir }: { id: string; key: string; dir: 'r' | 'w' }) {
    const channel = this.#parts.channels.findHere({ channel_id: id, access_key: accessKey });
    const opened = channel && ownedEnd(channel, dir);
    if (!opened) return undefined;
    const end = Object.assign(opened, { from });
    this.#owned.set(key, end);
    return end;
  }
}
