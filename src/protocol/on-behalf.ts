/**
 * For whom a peer calls, by its own word, and to what it wants the call held.
 *
 * It only narrows: the engine keeps the kind and the id that it gave the connection. A field that is not known here might
 * have been meant to narrow too, so it makes the whole unreadable, and the engine refuses the call.
 */
import { z } from 'zod';

export const OnBehalfSchema = z.strictObject({
  /** The program at the other end of the peer, such as a client of MCP. */
  client: z.object({ name: z.string(), version: z.string() }).optional(),
  /** Workers or function ids; nothing else may be called. */
  only: z.array(z.string().max(512)).max(1000).optional(),
  /** Only what changes nothing and runs nothing may be called. */
  read_only: z.boolean().optional(),
});

export type OnBehalf = z.infer<typeof OnBehalfSchema>;
