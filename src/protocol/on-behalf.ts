/**
 * The program that a peer calls for, as the peer names it, and the limits that it asks for.
 *
 * Limits only narrow the rights: the engine keeps the kind and the id that it gave the connection. An unknown field may
 * also be meant to narrow, so it makes the whole invalid, and the engine refuses the call.
 */
import { z } from 'zod';

export const OnBehalfSchema = z.strictObject({
  /** The program at the other end of the peer, such as an MCP client. */
  client: z.object({ name: z.string(), version: z.string() }).optional(),
  /** Workers or function ids; nothing else may be called. */
  only: z.array(z.string().max(512)).max(1000).optional(),
  /** Only functions that change nothing and run nothing may be called. */
  read_only: z.boolean().optional(),
});

export type OnBehalf = z.infer<typeof OnBehalfSchema>;
