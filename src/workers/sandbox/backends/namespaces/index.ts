/** Sandboxes of Linux namespaces: fast, without a kernel of their own. */
import type { BackendDef } from '../definition.ts';
import facts from './backend.json' with { type: 'json' };
import { NamespacesBackend } from './namespaces-backend.ts';

export const namespaces: BackendDef = {
  ...facts,
  // Not pooled: starting one takes less than asking for one that waits.
  open: ({ cacheDir, log }) => [new NamespacesBackend({ cacheDir, log })],
  // They share the kernel of the host, so nobody is told to get them.
  worth: () => 0,
};
