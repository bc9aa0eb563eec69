/**
 * sandbox::fs::read: returns a file of a sandbox through a channel, and short text in the reply as well.
 *
 * The channel is always there, so a caller may rely on it whatever the file is.
 */
import { isUtf8 } from 'node:buffer';

import { z } from 'zod';

import { read as operation } from '#file-functions';
import type { OpenFile } from '#host';
import { StreamChannelRef } from '../../channel-ref.ts';
import { filesOf, sandboxIdField } from '../../file-function.ts';
import { withNearestPath } from '../../nearest-path.ts';
import { sandbox } from '../../worker.ts';

/** Shorter text is in the reply. */
const INLINE_BYTES = 1_048_576;

const { request, response, errors, ...definition } = operation;

export const read = sandbox.defineFunction({
  ...definition,
  id: 'sandbox::fs::read',
  request: request.extend(sandboxIdField).meta({ title: 'ReadRequest' }),
  response: response
    .extend({
      content: StreamChannelRef.describe('The end of the channel to read from, once.'),
      body: z.string().nullish().describe('The whole file, when it is UTF-8 and shorter than 1 MiB; else absent.'),
    })
    .meta({ title: 'ReadResponse' }),
  errors: ['S001', 'S002', 'S004', ...errors],
  examples: [],

  async handle({ sandbox_id, path }, context, scope) {
    const { files, ...limits } = filesOf(sandbox_id, context);
    let body: string | undefined;
    const peeking: typeof files = {
      ...files,
      async read(...asked) {
        const peeked = await peekText(await files.read(...asked), INLINE_BYTES);
        body = peeked.text;
        return peeked.file;
      },
    };
    const reading = operation.handle({ path }, { ...limits, files: peeking }, scope);
    const reply = await withNearestPath(reading, files, scope);
    const content = { direction: 'read' as const, ...reply.content };
    return { ...reply, content, ...(body !== undefined && { body }) };
  },
});

/** The file unchanged, and its text when all of it is UTF-8 and shorter than the limit. */
async function peekText(file: OpenFile, limitBytes: number): Promise<{ file: OpenFile; text?: string }> {
  if (file.sizeBytes >= limitBytes) return { file };

  const source = file.bytes[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  let next = await source.next();
  for (; !next.done && size < limitBytes; next = await source.next()) {
    seen.push(next.value);
    size += next.value.length;
  }
  const isWhole = next.done === true && size < limitBytes;
  const last = next;

  async function* replay(): AsyncGenerator<Uint8Array> {
    yield* seen;
    if (last.done) return;
    yield last.value;
    for (let more = await source.next(); !more.done; more = await source.next()) yield more.value;
  }
  const bytes = isWhole ? Buffer.concat(seen) : undefined;
  const text = bytes && isUtf8(bytes) ? bytes.toString() : undefined;
  return { file: { ...file, bytes: replay() }, text };
}
