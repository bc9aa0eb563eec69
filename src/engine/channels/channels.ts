/**
 * The broker of stream channels: one writer, one reader, a bounded queue between them.
 *
 * Back-pressure keeps the engine's memory bounded: an end that gets `wait` must stop reading its source until
 * `resume`.
 */
import { randomUUID } from 'node:crypto';

import type { ChannelPair } from '#contract';
import type { ChannelItem, ChannelRef } from '#protocol';
import { isSameSecret } from '../admission.ts';
import { fail } from '../errors.ts';
import type { EngineLimits } from '../limits.ts';

const DEFAULT_BUFFER = 64;
const MAX_BUFFER = 1024;

export interface WriterEvents {
  /** The queue has room again after `wait`. */
  resume(): void;
  /** The reader disconnected; the rest will not be read. */
  readerGone(): void;
}

export interface ReaderEvents {
  /** There are items to take, or the stream ended or broke. */
  readable(): void;
}

export type Taken = { item: ChannelItem } | { broken: string } | 'empty' | 'ended';

export class Channel {
  readonly id: string;
  readonly key = randomUUID();
  readonly createdAtMs = Date.now();
  readonly #capacity: number;
  readonly #maxBytes: number;
  readonly #done: (channel: Channel) => void;
  #items: ChannelItem[] = [];
  #bytes = 0;
  #isPaused = false;
  #writer: WriterEvents | 'free' | 'ended' = 'free';
  /** Why the stream has less than its writer wanted to send. */
  #broken: string | undefined;
  #reader: ReaderEvents | 'free' | 'gone' = 'free';
  #resolveTaken = () => {};
  /** Resolves when the reader took everything, or left. */
  readonly taken = new Promise<void>((resolve) => (this.#resolveTaken = resolve));

  constructor(options: { id?: string; capacity: number; maxBytes: number; done: (channel: Channel) => void }) {
    this.id = options.id ?? randomUUID();
    this.#capacity = options.capacity;
    this.#maxBytes = options.maxBytes;
    this.#done = options.done;
  }

  get hasFreeEnd(): boolean {
    return this.#writer === 'free' || this.#reader === 'free';
  }

  /** False when that end is already taken. */
  takeWriter(events: WriterEvents): boolean {
    if (this.#writer !== 'free') return false;
    this.#writer = events;
    if (this.#reader === 'gone') events.readerGone();
    return true;
  }

  takeReader(events: ReaderEvents): boolean {
    if (this.#reader !== 'free') return false;
    this.#reader = events;
    if (this.#items.length > 0 || this.#writer === 'ended') events.readable();
    return true;
  }

  push(item: ChannelItem): 'more' | 'wait' | 'gone' {
    if (this.#reader === 'gone') return 'gone';
    this.#items.push(item);
    this.#bytes += item.length;
    if (typeof this.#reader === 'object') this.#reader.readable();

    this.#isPaused = this.#isFull;
    return this.#isPaused ? 'wait' : 'more';
  }

  /** The writer sent everything, or `broken`: why it left before that. */
  endWriting(broken?: string): void {
    if (this.#writer === 'ended') return;
    this.#writer = 'ended';
    this.#broken = broken;
    if (typeof this.#reader === 'object') this.#reader.readable();
    else if (this.#reader === 'gone') this.#done(this);
  }

  take(): Taken {
    const item = this.#items.shift();
    if (item === undefined) {
      if (this.#reader === 'gone') return 'ended';
      if (this.#writer !== 'ended') return 'empty';
      this.#resolveTaken();
      return this.#broken === undefined ? 'ended' : { broken: this.#broken };
    }

    this.#bytes -= item.length;
    if (this.#isPaused && !this.#isFull) {
      this.#isPaused = false;
      if (typeof this.#writer === 'object') this.#writer.resume();
    }
    return { item };
  }

  endReading(): void {
    if (this.#reader === 'gone') return;
    this.#reader = 'gone';
    this.#items = [];
    this.#bytes = 0;
    this.#resolveTaken();
    if (typeof this.#writer === 'object') this.#writer.readerGone();
    else if (this.#writer === 'ended') this.#done(this);
  }

  /** Breaks the stream off for the side that is connected. */
  expire(): void {
    const reason = this.#writer === 'free' ? 'no writer connected to this channel' : 'the engine closed this channel';
    if (typeof this.#reader === 'object') this.endWriting(reason);
    else this.endReading();
    this.#done(this);
  }

  get #isFull(): boolean {
    return this.#items.length >= this.#capacity || this.#bytes >= this.#maxBytes;
  }
}

export class ChannelBroker {
  readonly #channels = new Map<string, Channel>();
  /** Open channels per creating connection. */
  readonly #madeBy = new Map<string, number>();
  readonly #limits: EngineLimits;
  readonly #sweeper: NodeJS.Timeout;
  /** In a cluster: the node's id, with which the ids of its channels begin, and the channels of other nodes. */
  #cluster: { nodeId: string; find: (ref: ChannelRef) => Channel | undefined } | undefined;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
    this.#sweeper = setInterval(() => this.#expireOld(), Math.max(10, limits.channelTtlMs / 5)).unref();
  }

  /** From now on channels of other nodes are found by their references. */
  join(nodeId: string, find: (ref: ChannelRef) => Channel | undefined): void {
    this.#cluster = { nodeId, find };
  }

  /** `creator` is the connection that asked for it; without one the channel is the engine's own. */
  create(bufferSize = DEFAULT_BUFFER, creator = ''): ChannelPair {
    const { maxChannels, maxChannelsPerSession } = this.#limits;
    const made = this.#madeBy.get(creator) ?? 0;
    if (creator !== '' && made >= maxChannelsPerSession)
      throw fail('limit_reached', {
        what: 'open channels a connection: end one of them first',
        limit: maxChannelsPerSession,
      });
    if (this.#channels.size >= maxChannels)
      throw fail('limit_reached', { what: 'open channels: try again when one has closed', limit: maxChannels });

    const channel = new Channel({
      id: this.#cluster && this.#cluster.nodeId + randomUUID().slice(this.#cluster.nodeId.length),
      capacity: Math.min(Math.max(bufferSize, 1), MAX_BUFFER),
      maxBytes: this.#limits.maxChannelBytes,
      done: ({ id }) => this.#forget(id, creator),
    });
    this.#channels.set(channel.id, channel);
    this.#madeBy.set(creator, made + 1);
    const shared = { channel_id: channel.id, access_key: channel.key };
    return { writer: { ...shared, direction: 'write' }, reader: { ...shared, direction: 'read' } };
  }

  /**
   * The channel of this engine, if id and key match, else the near end of one of another node, which checks the key.
   */
  find(ref: ChannelRef): Channel | undefined {
    return this.#channels.has(ref.channel_id) ? this.findHere(ref) : this.#cluster?.find(ref);
  }

  findHere(ref: Pick<ChannelRef, 'channel_id' | 'access_key'>): Channel | undefined {
    const channel = this.#channels.get(ref.channel_id);
    return channel && isSameSecret(channel.key, ref.access_key) ? channel : undefined;
  }

  get count(): number {
    return this.#channels.size;
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const channel of this.#channels.values()) channel.expire();
  }

  #forget(id: string, creator: string): void {
    if (!this.#channels.delete(id)) return;
    const left = this.#madeBy.get(creator)! - 1;
    if (left > 0) this.#madeBy.set(creator, left);
    else this.#madeBy.delete(creator);
  }

  #expireOld(): void {
    const bornBefore = Date.now() - this.#limits.channelTtlMs;
    for (const channel of this.#channels.values()) {
      if (channel.hasFreeEnd && channel.createdAtMs < bornBefore) channel.expire();
    }
  }
}
