/** Builds the page into `dist/console`, where the HTTP door finds it. Its assets are asked for under `/console/`. */
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // The policy of the page allows no inlined parts.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
});
