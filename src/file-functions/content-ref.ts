/** The end of a stream channel that carries file bytes, in its wire form. */
import { z } from 'zod';

import { wire } from '#contract';

export const ContentRef = wire.named(
  'ContentRef',
  z.object({
    channel_id: z.string(),
    access_key: z.string(),
    // Published with its default and not filled in: sent references always have it.
    direction: wire
      .named('ContentDirection', z.enum(['read', 'write']))
      .optional()
      .meta({ default: 'read' }),
  }),
);
export type ContentRef = z.output<typeof ContentRef>;
