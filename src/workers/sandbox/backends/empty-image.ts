/** An image with nothing in it, for probes: that the agent answers there is all that they want to see. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { PreparedImage } from '../images/index.ts';

export function emptyImage(cacheDir: string): PreparedImage {
  const rootDir = join(cacheDir, 'empty-root');
  mkdirSync(rootDir, { recursive: true });
  return { name: 'empty', ref: 'empty', digest: 'empty', rootDir, env: [] };
}
