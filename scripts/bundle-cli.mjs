/**
 * Joins the modules of the command line into few files, `dist/bundled`: `node scripts/bundle-cli.mjs`.
 *
 * Node takes a third of the time of a start for finding and reading eight hundred modules. They stay in `dist` for
 * programs that import the library, and for the processes and threads that the command line starts by their path.
 * Packages stay outside: the version that is installed is the one that runs.
 */
import { rmSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** A module that finds its neighbours by its own URL finds them where it was, not where the bundle is. */
const ownUrls = {
  name: 'own-urls',
  transform(code, id) {
    if (!id.startsWith(dist) || !code.includes('import.meta.url')) return undefined;
    const path = relative(dist, id).replaceAll(sep, '/');
    return code.replaceAll('import.meta.url', `new URL('../${path}', import.meta.url).href`);
  },
};

await build({
  configFile: false,
  logLevel: 'warn',
  root: dist,
  publicDir: false,
  plugins: [ownUrls],
  build: {
    ssr: `${dist}cli/run.js`,
    outDir: `${dist}bundled`,
    target: 'node20',
    minify: false,
    sourcemap: false,
    rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
  },
});

// src/cli/main.ts takes the bundle where this file is missing: a later run of tsc alone writes it, and changes modules.
rmSync(`${dist}.tsbuildinfo`, { force: true });
