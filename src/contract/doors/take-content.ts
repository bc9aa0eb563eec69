/**
 * Reads the channel of a reply that streams its content, for surfaces whose callers cannot open channels.
 *
 * Only a reply of the form `{content: <channel to read>, size, …}` is taken: its length is known, so its stream ends.
 */
import { isUtf8 } from 'node:buffer';

import { z } from 'zod';

import { ChannelRefSchema, type ChannelReader } from '#protocol';
import { CallError, type Bus } from '../bus.ts';
import { isMap } from '../schema/is-map.ts';

const ReplySchema = z.looseObject({
  content: ChannelRefSchema.extend({ direction: z.literal('read').default('read') }),
  size: z.int().min(0),
});

/** The functions that stream files take no range. */
const ADVICE = 'Read a part of it with a command, such as head -c';

export interface TakenContent {
  /** The reply without its channel. */
  rest: Record<string, unknown>;
  bytes: Buffer;
}

/** Undefined for a reply without a channel. Fails with `content_too_large` or `content_incomplete`. */
export async function takeContent(
  bus: Bus,
  reply: unknown,
  { functionId, maxBytes }: { functionId: string; maxBytes: number },
): Promise<TakenContent | undefined> {
  // Most content is text; describing why a schema refuses it takes longer than this.
  if (!isMap(reply) || !isMap(reply.content)) return undefined;
  const parsed = ReplySchema.safeParse(reply);
  if (!parsed.success) return undefined;

  const { content, ...rest } = parsed.data;
  const reader = await bus.openReader(content);
  if (rest.size > maxBytes) {
    reader.cancel();
    const message = `the file is ${rest.size} bytes; one reply has at most ${maxBytes} bytes. ${ADVICE}`;
    throw new CallError(functionId, { code: 'content_too_large', message });
  }
  const bytes = await drain(reader, functionId, maxBytes);
  if (bytes.length >= rest.size) return { rest, bytes };
  const message = `the content broke off after ${bytes.length} of ${rest.size} bytes; call again`;
  throw new CallError(functionId, { code: 'content_incomplete', message });
}

async function drain(reader: ChannelReader, functionId: string, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const item of reader) {
    // Text is a control message: the error that stopped the file.
    if (typeof item === 'string') throw new CallError(functionId, { code: 'content_incomplete', message: item });
    length += item.length;
    if (length > maxBytes) {
      const message = `the file grew to more than ${maxBytes} bytes while it was read; one reply has at most that many. ${ADVICE}`;
      throw new CallError(functionId, { code: 'content_too_large', message });
    }
    pieces.push(item);
  }
  return Buffer.concat(pieces);
}

/**
 * The reply with its content as text, or as base64 if it is not UTF-8.
 *
 * @example
 * ```js
 * import { writeFileSync } from 'node:fs';
 * import { resolve } from 'node:path';
 * import { createWorkcell } from 'workcell';
 * import { withContent } from 'workcell/contract';
 *
 * writeFileSync('notes.md', 'off by one');
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'shell' }] });
 * const functionId = 'shell::fs::read';
 * const reply = await cell.call(functionId, { path: resolve('notes.md') }); // its content is a channel
 * const { content, size } = await withContent(cell, reply, { functionId, maxBytes: 1_000_000 });
 * console.log(content, size); // off by one 10
 * await cell.close();
 * ```
 */
export async function withContent(
  bus: Bus,
  reply: unknown,
  options: { functionId: string; maxBytes: number },
): Promise<unknown> {
  const taken = await takeContent(bus, reply, options);
  if (!taken) return reply;
  const { rest, bytes } = taken;
  const text = asText(bytes);
  return text === undefined
    ? { content: bytes.toString('base64'), encoding: 'base64', ...rest }
    : { content: text, encoding: 'utf-8', ...rest };
}

/** Undefined if the bytes are not UTF-8. */
export function asText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
