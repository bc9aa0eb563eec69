/** Where the tests are and how they find the sources: `#contract` is `src/contract` here, not `dist`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import type { BackendFacts } from './src/workers/sandbox/backends/definition.ts';
import SlowFirst from './tests/slow-first.ts';

// The first is ours, named so that no dependency means it; the others are what vite gives code that runs in Node, which setting any replaces.
const conditions = ['workcell-source', 'node', 'development|production'];

/** What needs a process of its own: it counts what the process holds, such as children and memory, or loads Node's modules changed. */
const alone = [
  'src/host/children/**/*.test.ts',
  'src/host/search/{search-engine,scan/scan-pool,indexed/{index-parts,warm}}.test.ts',
  'src/host/{walk/walk,regex/limits}.test.ts',
  'src/workers/sandbox/functions/stop.test.ts',
  'tests/security/{jail-write-temp,sandbox-escape,sandbox-frames,sandbox-tunnel,shell-load}.test.ts',
];

/** The files of a worker share their modules: reading them again for each takes longer than the tests. */
const together = {
  unit: ['src/**/*.test.ts', 'console/src/**/*.test.ts'],
  repo: ['tests/*.test.ts', 'tests/pins/**/*.test.ts'],
  spec: ['tests/spec/**/*.{test,spec}.ts'],
  compat: ['tests/compat/**/*.test.ts'],
  security: ['tests/security/**/*.test.ts'],
};

/** Every case of sandboxes, on each backend that these files do not run on by themselves. */
const sandboxCases = [
  'src/workers/sandbox/functions/**/*.test.ts',
  'tests/spec/sandbox-jobs.test.ts',
  'tests/security/sandbox-{callers,escape,memory}.test.ts',
];
const moreCases = ['tests/security/sandbox-{limits,memory-user}.test.ts', 'tests/spec/guest-file-system.test.ts'];
const folder = new URL('src/workers/sandbox/backends/', import.meta.url);
const backends = readdirSync(folder)
  .map((name) => new URL(`${name}/backend.json`, folder))
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')) as BackendFacts)
  .filter(({ isTestDefault }) => !isTestDefault);

/** An emulated machine is slow at everything; a test that hangs is still noticed. */
const PATIENCE_MS = 300_000;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: 'forks',
    // Tests wait more than they compute: one more than there are processors keeps them busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    testTimeout: 20_000,
    hookTimeout: 30_000,
    passWithNoTests: true,
    reporters: ['default', './scripts/closing-line.mjs'],
    projects: [
      ...Object.entries(together).map(([name, include]) => ({
        extends: true as const,
        test: { name, include, exclude: alone, isolate: false },
      })),
      { extends: true as const, test: { name: 'system', include: alone } },
      { extends: true as const, test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'] } },
      ...backends.map(({ name, isTestedMore }) => ({
        extends: true as const,
        test: {
          name,
          include: [...sandboxCases, ...(isTestedMore ? moreCases : [])],
          env: { WORKCELL_TEST_BACKEND: name },
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      })),
    ],
  },
});
