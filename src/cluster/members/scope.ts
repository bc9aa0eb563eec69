/**
 * From where a function can be called, and by which name.
 *
 * `host`: by the name of its node. `one`: by its id from everywhere, the oldest live claim serves. `any`: by its id, every
 * claim serves. `door`: only on its own engine.
 */
import { z } from 'zod';

import { isBuiltIn, type RegisteredFunction } from '#engine';

const SCOPES = ['host', 'one', 'any', 'door'] as const;
export type Scope = (typeof SCOPES)[number];
export const ScopeSchema = z.enum(SCOPES);

const SaidSchema = z.object({ workcell: z.object({ scope: ScopeSchema }) });

/** As its metadata says in `workcell.scope`; else `host` for workers in the process of their node, `one` for all others. */
export function scopeOf({ metadata, owner }: RegisteredFunction): Scope {
  const said = SaidSchema.safeParse(metadata).data?.workcell.scope;
  return said ?? (isBuiltIn(owner) || owner.isInProcess ? 'host' : 'one');
}
