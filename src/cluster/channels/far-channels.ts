/** Cross-node channels: local ones that other nodes use, and remote ones used here. */
import { randomBytes } from 'node:crypto';

import { Channel, type ChannelBroker } from '#engine';
import type { ChannelRef } from '#protocol';
import type { Peer } from '../members/peer.ts';
import { readAs, toBytes } from '../wire/json.ts';
import type { Message, Wire } from '../wire/nats.ts';
import type { Subjects } from '../wire/subjects.ts';
import type { End, Line } from './end.ts';
import { NEAR_BYTES, NEAR_ITEMS } from './limits.ts';
import { ControlSchema, ID_BYTES, isData, MAX_CONTROL_BYTES, unpack, type Control } from './messages.ts';
import { Sink } from './sink.ts';
import { Source } from './source.ts';
import { Stream } from './stream.ts';

/** Errors for a truncated stream. */
const OWNER_GONE = 'the node of this channel is gone, or the channel is';
const BROKE_OFF = 'the writer of this channel broke off (its node is gone)';

interface FarChannelsParts {
  channels: ChannelBroker;
  wire: Wire;
  subjects: Subjects;
  /** By the id of the node. */
  peers: ReadonlyMap<string, Peer>;
}

export class FarChannels {
  readonly #parts: FarChannelsParts;
  /** By the id of the other node and that of the stream. */
  readonly #streams = new Map<string, { stream: Stream; peer: Peer }>();

  constructor(parts: FarChannelsParts) {
    this.#parts = parts;
  }

  /**
   * The channel of another node that a reference names; its id begins with that of the node. Here it is an ordinary
   * channel, whose other end is a stream: readers and writers, on sockets and in memory, use it as any other.
   */
  find({ channel_id: id, access_key: key, direction }: ChannelRef): Channel | undefined {
    const owner = this.#parts.peers.get(id.slice(0, 8));
    if (!owner) return undefined;
    const near = new Channel({ capacity: NEAR_ITEMS, maxBytes: NEAR_BYTES, done: () => {} });
    const isWriter = direction === 'write';
    const endOf = (line: Line): End => (isWriter ? new Source(near, line) : new Sink(near, line, OWNER_GONE));
    const open = { id, key, dir: isWriter ? ('w' as const) : ('r' as const) };
    this.#add(owner, randomBytes(ID_BYTES).toString('hex'), endOf, open);
    return near;
  }

  take({ data: message }: Message, peer: Peer): void {
    if (isData(message)) {
      const data = unpack(message);
      if (data) this.#known(peer, data.stream)?.takeData(data.seq, data.pieces);
      return;
    }
    const control = readAs(ControlSchema, message, MAX_CONTROL_BYTES);
    if (control?.open) this.#accept(peer, control.stream, control.open);
    if (control) this.#known(peer, control.stream, control.gone)?.takeControl(control);
  }

  /** Sends pending messages; closes streams of lost nodes and unpolled streams. */
  sweep(nowMs: number): void {
    for (const [key, { stream, peer }] of this.#streams) {
      if (this.#parts.peers.get(peer.address.id) === peer) stream.tick(nowMs);
      else stream.close();
      if (stream.isOver) this.#streams.delete(key);
    }
  }

  /** Opens an end of a channel of this node for another one, once. */
  #accept(peer: Peer, stream: string, { id, key, dir }: NonNullable<Control['open']>): void {
    if (this.#streams.has(keyOf(peer, stream))) return;
    const channel = this.#parts.channels.findHere({ channel_id: id, access_key: key });
    if (!channel) return;
    this.#add(peer, stream, (line) => (dir === 'w' ? new Sink(channel, line, BROKE_OFF) : new Source(channel, line)));
  }

  #add(peer: Peer, id: string, endOf: (line: Line) => End, open?: Control['open']): void {
    const stream = new Stream({ id, publish: (message) => this.#publish(peer, message), open }, endOf);
    if (stream.isTaken) this.#streams.set(keyOf(peer, id), { stream, peer });
  }

  /** Answers a message for a stream that is not here. */
  #known(peer: Peer, id: string, isGone = false): Stream | undefined {
    const stream = this.#streams.get(keyOf(peer, id))?.stream;
    if (!stream && !isGone) this.#publish(peer, toBytes({ stream: id, gone: true } satisfies Control));
    return stream;
  }

  #publish({ address }: Peer, message: Uint8Array): void {
    this.#parts.wire.publish(this.#parts.subjects.toNode('chan', address), message);
  }
}

function keyOf({ address }: Peer, stream: string): string {
  return `${address.id} ${stream}`;
}
