/**
 * sandbox::fs::read: returns a file of a sandbox through a channel, and short text in the reply as well.
 *
 * The channel is always there, so a caller may rely on it whatever the file is.
 */
import { z } from 'zod';

import { read as operation } from '#file-functions';
import { StreamChannelRef } from '../../channel-ref.ts';
import { filesOf, sandboxIdField } from '../../file-function.ts';
import { withNearestPath } from '../../nearest-path.ts';
import { peekText } from '../../inline-text.ts';
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
