/**
 * A message of a channel between nodes: two bytes of head length, the head as JSON, then the items.
 *
 * An item has a byte for its kind, four for its length, and its bytes.
 */
import { z } from 'zod';

import type { ChannelItem } from '#protocol';

const text = z.string().max(512);

export const RequestHeadSchema = z.object({
  /** `w` puts into the channel, `r` takes from it. */
  dir: z.enum(['w', 'r']),
  id: text,
  key: text,
  /** Counts batches from 1, so that a repeated request changes nothing. */
  seq: z.int().min(1),
  /** All batches up to this one have arrived. */
  ack: z.int().min(0).optional(),
  /** The last batch: the stream ended, or broke for this reason. */
  end: z.boolean().optional(),
  broken: text.optional(),
  /** Only asks whether the batch found room. */
  poll: z.boolean().optional(),
  /** The reader left. */
  cancel: z.boolean().optional(),
});
export type RequestHead = z.output<typeof RequestHeadSchema>;

export const ReplyHeadSchema = z.object({
  /** The channel, or its other end, is not there. */
  gone: z.boolean().optional(),
  /** Put: accepted, and there is no room yet. Take: nothing yet. Ask again. */
  again: z.boolean().optional(),
  end: z.boolean().optional(),
  broken: text.optional(),
});
export type ReplyHead = z.output<typeof ReplyHeadSchema>;

const TEXT = 1;
const BYTES = 0;
const ITEM_HEAD = 5;

export function pack(head: RequestHead | ReplyHead, items: readonly ChannelItem[] = []): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(json.length);
  const parts: Uint8Array[] = [length, json];
  for (const item of items) {
    const bytes = typeof item === 'string' ? Buffer.from(item) : item;
    const itemHead = Buffer.alloc(ITEM_HEAD);
    itemHead[0] = typeof item === 'string' ? TEXT : BYTES;
    itemHead.writeUInt32BE(bytes.length, 1);
    parts.push(itemHead, bytes);
  }
  return Buffer.concat(parts);
}

/** Undefined when it is not such a message. */
export function unpack<Head>(
  schema: z.ZodType<Head>,
  data: Uint8Array,
): { head: Head; items: ChannelItem[] } | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < 2) return undefined;
  const start = 2 + bytes.readUInt16BE(0);
  if (start > bytes.length) return undefined;
  try {
    const { success, data: head } = schema.safeParse(JSON.parse(bytes.toString('utf8', 2, start)));
    const items: ChannelItem[] = [];
    for (let at = start; at < bytes.length;) {
      const end = at + ITEM_HEAD + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) return undefined;
      const item = bytes.subarray(at + ITEM_HEAD, end);
      // A copy: the buffer belongs to the client of NATS.
      items.push(bytes[at] === TEXT ? item.toString() : Buffer.from(item));
      at = end;
    }
    return success ? { head, items } : undefined;
  } catch {
    return undefined;
  }
}
