/** The end of a channel, in the field names of the sandbox functions. */
import { z } from 'zod';

import { wire } from '#contract';

export const StreamChannelRef = wire.named(
  'StreamChannelRef',
  z.object({
    channel_id: z.string(),
    access_key: z.string(),
    direction: wire.named('ChannelDirection', z.enum(['read', 'write'])),
  }),
);
