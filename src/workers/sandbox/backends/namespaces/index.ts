/** Sandboxes of Linux namespaces: fast, without a kernel of their own. */
import type { BackendDef } from '../definition.ts';
import facts from './backend.json' with { type: 'json' };
import { namespacesBackend } from './namespaces-backend.ts';

export const namespaces: BackendDef = {
  ...facts,
  // Not pooled: starting one is faster than a pool.
  open: ({ cacheDir, log }) => [namespacesBackend({ cacheDir, log })],
  // Namespaces share the host's kernel, so setup never recommends them.
  worth: () => 0,
};
