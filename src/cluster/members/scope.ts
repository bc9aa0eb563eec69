/** From where a function can be called, and by which name. */
import { z } from 'zod';

import { SCOPES, type Scope } from '#contract';
import { isBuiltIn, type RegisteredFunction } from '#engine';

export const ScopeSchema = z.enum(SCOPES);

const SaidSchema = z.object({ workcell: z.object({ scope: ScopeSchema }) });

/**
 * As its metadata says in `workcell.scope`; else `host` for workers in the process of their node, `one` for all others.
 */
export function scopeOf({ metadata, owner }: RegisteredFunction): Scope {
  const said = SaidSchema.safeParse(metadata).data?.workcell.scope;
  return said ?? (isBuiltIn(owner) || owner.isInProcess ? 'host' : 'one');
}
