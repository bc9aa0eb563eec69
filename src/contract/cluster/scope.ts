/**
 * From where a function can be called in a cluster. `host`: by the name of its node. `one`: by its id from everywhere,
 * the oldest live claim serves. `any`: by its id, every claim serves. `door`: only on its own engine.
 */
export const SCOPES = ['host', 'one', 'any', 'door'] as const;
export type Scope = (typeof SCOPES)[number];
