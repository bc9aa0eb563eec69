/**
 * Builds the console into `dist/console`: `node scripts/build-console.mjs`.
 *
 * The page is served from there and fetches nothing from elsewhere, so everything it needs is in that folder.
 */
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

await build({
  configFile: fileURLToPath(new URL('../console/vite.config.ts', import.meta.url)),
  logLevel: 'warn',
});
