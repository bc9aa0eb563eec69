/** Where the tests are and how they find the sources: `#contract` is `src/contract` here, not `dist`. */
import { defineConfig } from 'vitest/config';

// The first is ours, named so that no dependency means it; the others are what vite gives code that runs in Node, which setting any replaces.
const conditions = ['workcell-source', 'node', 'development|production'];

const projects = {
  unit: ['src/**/*.test.ts', 'console/src/**/*.test.ts'],
  repo: ['tests/*.test.ts', 'tests/pins/**/*.test.ts'],
  spec: ['tests/spec/**/*.{test,spec}.ts'],
  compat: ['tests/compat/**/*.test.ts'],
  security: ['tests/security/**/*.test.ts'],
  e2e: ['tests/e2e/**/*.test.ts'],
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: 'forks',
    // Tests wait more than they compute; the default leaves one of two processors idle.
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    passWithNoTests: true,
    reporters: ['default', './scripts/closing-line.mjs'],
    projects: Object.entries(projects).map(([name, include]) => ({ extends: true, test: { name, include } })),
  },
});
