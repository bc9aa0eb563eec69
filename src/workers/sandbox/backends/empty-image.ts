/** An empty image, for probes: they only check that the agent answers. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ImageReference } from './backend.ts';

export function emptyImage(cacheDir: string): ImageReference {
  const rootDir = join(cacheDir, 'empty-root');
  mkdirSync(rootDir, { recursive: true });
  return { name: 'empty', ref: 'empty', digest: 'empty', directory: async () => rootDir, env: [] };
}
