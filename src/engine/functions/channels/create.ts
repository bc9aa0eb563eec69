/** engine::channels::create: two references to a new stream, one for each end. */
import { z } from 'zod';

import { ChannelRefSchema } from '#protocol';
import { engine } from '../../worker.ts';

export const createChannel = engine.defineFunction({
  id: 'engine::channels::create',
  summary: 'Create a stream channel and return its two ends.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({
    buffer_size: z
      .int()
      .min(0)
      .nullish()
      .describe('Messages buffered before the writer has to wait: 1 to 1024, default 64.'),
  }),
  response: z.object({ writer: ChannelRefSchema, reader: ChannelRefSchema }),
  errors: ['limit_reached', 'deserialization_error'],
  examples: [{}],

  handle({ buffer_size }, { channels }, { call: { callerId } }) {
    return channels.create(buffer_size ?? undefined, callerId);
  },
});
