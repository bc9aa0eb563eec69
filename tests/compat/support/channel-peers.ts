/** All kinds of channel peers behind one interface: both SDKs, our client, and a peer in the engine's process. */
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { vi } from 'vitest';

import { connect } from '#client';
import type { ChannelRef } from '#protocol';
import type { TestEngine } from '#testing';
import { connectSdk, versions, type SdkClient, type Version } from './clients.ts';

export const channelPeers = [...versions, 'our client', 'in process'] as const;
export type ChannelPeerKind = (typeof channelPeers)[number];

export interface ChannelPeer extends AsyncDisposable {
  /** Writes everything and ends the stream. */
  write(ref: ChannelRef, bytes: Buffer): Promise<void>;
  readAll(ref: ChannelRef): Promise<Buffer>;
}

export async function channelPeer(kind: ChannelPeerKind, engine: TestEngine): Promise<ChannelPeer> {
  if (kind === 'our client') return ownPeer(await connect(engine.url));
  if (kind === 'in process') return ownPeer(await connect(engine.engine.dialer()));
  return sdkPeer(kind, engine.url);
}

/** The reference goes through a call, deep in its payload: the SDK makes a live end of it for the handler. */
function sdkPeer(version: Version, url: string): ChannelPeer {
  const client = connectSdk(version, url);
  const id = crypto.randomUUID();
  let outgoing: Buffer;
  let incoming: Buffer;
  type Ends = { ends: [{ writer: { stream: Writable }; reader: { readAll(): Promise<Buffer> } }] };
  client.registerFunction(`${id}::write`, async ({ ends: [{ writer }] }: Ends) => {
    writer.stream.end(outgoing);
    await finished(writer.stream);
  });
  client.registerFunction(`${id}::read`, async ({ ends: [{ reader }] }: Ends) => {
    incoming = await reader.readAll();
  });
  return {
    async write(ref, bytes) {
      outgoing = bytes;
      await client.trigger({ function_id: `${id}::write`, payload: { ends: [{ writer: ref }] } });
    },
    async readAll(ref) {
      await client.trigger({ function_id: `${id}::read`, payload: { ends: [{ reader: ref }] } });
      return incoming;
    },
    [Symbol.asyncDispose]: () => client.shutdown(),
  };
}

function ownPeer(connection: Awaited<ReturnType<typeof connect>>): ChannelPeer {
  return {
    async write(ref, bytes) {
      const writer = await connection.openWriter(ref);
      await writer.write(bytes);
      await writer.end();
    },
    async readAll(ref) {
      const parts: Uint8Array[] = [];
      for await (const item of await connection.openReader(ref)) parts.push(Buffer.from(item));
      return Buffer.concat(parts);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(connection.close()),
  };
}

export interface ChannelCounts {
  /** Bytes and items the engine took from the writer. */
  accepted: number;
  items: number;
  /** Items taken and not yet given to the reader: now, and at most. */
  waiting: number;
  mostWaiting: number;
}

export function watchChannel({ engine }: TestEngine, ref: ChannelRef): ChannelCounts {
  const channel = engine.channels.find(ref)!;
  const counts = { accepted: 0, items: 0, waiting: 0, mostWaiting: 0 };
  const push = channel.push.bind(channel);
  const take = channel.take.bind(channel);
  vi.spyOn(channel, 'push').mockImplementation((item) => {
    counts.accepted += item.length;
    counts.items += 1;
    counts.waiting += 1;
    counts.mostWaiting = Math.max(counts.mostWaiting, counts.waiting);
    return push(item);
  });
  vi.spyOn(channel, 'take').mockImplementation(() => {
    const taken = take();
    if (typeof taken === 'object') counts.waiting -= 1;
    return taken;
  });
  return counts;
}

/**
 * Resolves once the engine reads no more from the writer.
 *
 * Each answered call is a turn through the event loop and the sockets that would have brought more.
 */
export async function stalled(counts: ChannelCounts, client: SdkClient, turns = 100): Promise<void> {
  let before: number;
  do {
    before = counts.accepted;
    for (let turn = 0; turn < turns; turn += 1) await client.settled();
  } while (counts.accepted === 0 || counts.accepted !== before);
}
