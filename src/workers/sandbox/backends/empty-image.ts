/** An image with nothing in it, for probes: that the agent answers there is all that they want to see. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ImageReference } from './backend.ts';

export function emptyImage(cacheDir: string): ImageReference {
  const rootDir = join(cacheDir, 'empty-root');
  mkdirSync(rootDir, { recursive: true });
  return { name: 'empty', ref: 'empty', digest: 'empty', directory: async () => rootDir, env: [] };
}
