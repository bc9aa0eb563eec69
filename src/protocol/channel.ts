/**
 * Stream channels: how bulk bytes travel beside the frames.
 *
 * A reference is the whole capability: who holds id and key may take that end, once. A writer that closes its end with
 * a close frame has ended the stream; one that goes in any other way has broken it, and its reader is told.
 */
import { z } from 'zod';

export const ChannelRefSchema = z.object({
  channel_id: z.string(),
  access_key: z.string(),
  direction: z.enum(['read', 'write']),
});
export type ChannelRef = z.infer<typeof ChannelRefSchema>;

/** Bytes of the stream, or one control message as text. Boundaries are kept. */
export type ChannelItem = Uint8Array | string;

/** Peers cut bytes into frames of this size at most. */
export const CHANNEL_CHUNK_BYTES = 65_536;

/** What a broken stream tells its reader, after the last item that came. */
export class ChannelBroken extends Error {
  override readonly name = 'ChannelBroken';
}

/**
 * Whether a writer that closed its socket with this code meant the end of its stream. SDKs close with 1000 or, in Rust
 * and browsers, with a frame that has no code (1005), once everything is sent. Whatever else is a break.
 */
export function isStreamEnd(closeCode: number): boolean {
  return closeCode === 1000 || closeCode === 1005;
}

/** Throws `ChannelBroken` when the writer broke off. */
export interface ChannelReader extends AsyncIterable<ChannelItem> {
  /** Gives the end back without reading on; the writer notices. */
  cancel(): void;
}

export interface ChannelWriter {
  /** Resolves once the item is taken, which is where back-pressure is felt. Bytes are cut into chunks. */
  write(item: ChannelItem): Promise<void>;
  /** Ends the stream after everything written. */
  end(): Promise<void>;
  /** Resolves once nothing waits for the reader, who took all or is gone. Only for channels of an engine in this process. */
  untilTaken?(): Promise<void>;
  /** Breaks the stream off: what was written is not all there was to be. */
  abort(): void;
}

export interface ChannelEnds {
  openReader(ref: ChannelRef): Promise<ChannelReader>;
  openWriter(ref: ChannelRef): Promise<ChannelWriter>;
}

/** Path and query of one end's socket. */
export function channelPath(ref: ChannelRef): string {
  const query = new URLSearchParams({ key: ref.access_key, dir: ref.direction });
  return `/ws/channels/${encodeURIComponent(ref.channel_id)}?${query}`;
}

/** Cuts bytes into pieces that every peer accepts; a text message is never cut. */
export function* chunksOf(item: ChannelItem): Generator<ChannelItem> {
  if (typeof item === 'string' || item.length <= CHANNEL_CHUNK_BYTES) {
    yield item;
    return;
  }
  for (let at = 0; at < item.length; at += CHANNEL_CHUNK_BYTES) {
    yield item.subarray(at, at + CHANNEL_CHUNK_BYTES);
  }
}
