/**
 * The bytes of a write: the text in the request itself, or a channel.
 *
 * Control messages in a channel are not part of the file. One that reports an error ends the write, and so does a
 * broken channel: half a file is never kept.
 */
import type { Bus } from '#contract';
import { FileFault } from '#host';
import { ChannelBroken, type ChannelReader } from '#protocol';
import type { ContentRef } from './content-ref.ts';
import { withTimeout } from './stream-timeout.ts';

export interface Incoming {
  readonly bus: Bus;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly idleMs: number;
}

/** Reads nothing before the first piece is requested. Throws when the size limit is exceeded. */
export async function* incomingBytes(content: string | ContentRef, incoming: Incoming): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of typeof content === 'string' ? [Buffer.from(content)] : piecesFrom(content, incoming)) {
    size += piece.length;
    if (size > incoming.maxBytes) {
      throw new FileFault('too-large', `the content is larger than ${incoming.maxBytes} bytes`);
    }
    yield piece;
  }
}

async function* piecesFrom(ref: ContentRef, { bus, signal, idleMs }: Incoming): AsyncGenerator<Uint8Array> {
  const reader = await openReader(ref, bus);
  const items = reader[Symbol.asyncIterator]();
  const late = () => new FileFault('stream', `no bytes came through the channel for ${idleMs / 1000} s`);
  try {
    for (;;) {
      const next = await withTimeout(items.next(), { ms: idleMs, signal, late }).catch(refuseBreak);
      if (next.done) return;
      if (typeof next.value !== 'string') yield next.value;
      else refuseError(next.value);
    }
  } finally {
    reader.cancel();
  }
}

async function openReader({ direction = 'read', ...key }: ContentRef, bus: Bus): Promise<ChannelReader> {
  if (direction !== 'read') {
    throw new FileFault('bad-request', '`content` must be the end of the channel that is read from');
  }
  try {
    return await bus.openReader({ ...key, direction });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FileFault('stream', `the channel cannot be read: ${reason}`, error);
  }
}

function refuseBreak(error: unknown): never {
  throw error instanceof ChannelBroken ? new FileFault('stream', error.message, error) : error;
}

function refuseError(message: string): void {
  const value = parsed(message);
  if (typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'string') {
    throw new FileFault('stream', `the sender broke off: ${value.error}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
