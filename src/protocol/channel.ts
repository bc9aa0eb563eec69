/**
 * Stream channels: bulk bytes beside the frames.
 *
 * A reference is the whole capability: a peer that has id and key may take that end, once. A writer that closes with
 * a close frame ends the stream; any other disconnect breaks it, and the reader gets an error.
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

/** Peers split bytes into frames of at most this size. */
export const CHANNEL_CHUNK_BYTES = 65_536;

/** The error of a broken stream, after the last item that came. */
export class ChannelBroken extends Error {
  override readonly name = 'ChannelBroken';
}

/**
 * Whether this close code of the writer ends its stream. SDKs close with 1000 or, in Rust and browsers, with a
 * frame without a code (1005), once everything is sent. Any other code breaks it.
 */
export function isStreamEnd(closeCode: number): boolean {
  return closeCode === 1000 || closeCode === 1005;
}

/** Throws `ChannelBroken` when the writer broke off. */
export interface ChannelReader extends AsyncIterable<ChannelItem> {
  /** Releases the end without reading the rest; the writer is notified. */
  cancel(): void;
}

export interface ChannelWriter {
  /** Resolves once the item is accepted, which applies back-pressure. Bytes are split into chunks. */
  write(item: ChannelItem): Promise<void>;
  /** Ends the stream after everything written. */
  end(): Promise<void>;
  /** Resolves once the reader took everything or left. Only for channels of an engine in this process. */
  untilTaken?(): Promise<void>;
  /** Breaks the stream off before its end. */
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

/** Splits bytes into pieces that every peer accepts; a text message is never split. */
export function* chunksOf(item: ChannelItem): Generator<ChannelItem> {
  if (typeof item === 'string' || item.length <= CHANNEL_CHUNK_BYTES) {
    yield item;
    return;
  }
  for (let at = 0; at < item.length; at += CHANNEL_CHUNK_BYTES) {
    yield item.subarray(at, at + CHANNEL_CHUNK_BYTES);
  }
}
