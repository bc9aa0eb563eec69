/** Where the tests are and how they find the sources: `#contract` is `src/contract` here, not `dist`. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { defineConfig } from 'vitest/config';

import type { BackendFacts } from './src/workers/sandbox/backends/definition.ts';
import SlowFirst from './tests/slow-first.ts';

// The first is ours, named so that no dependency means it; the others are what vite gives code that runs in Node, which setting any replaces.
const conditions = ['workcell-source', 'node', 'development|production'];

/** What needs a process of its own: it counts what the process holds, such as children and memory, or loads Node's modules changed. */
const alone = [
  'src/cli/sandbox/trees.test.ts',
  'src/host/children/**/*.test.ts',
  'src/host/search/{search-engine,scan/scan-pool,indexed/{index-parts,warm}}.test.ts',
  'src/host/{walk/walk,regex/limits}.test.ts',
  'tests/security/**/{jail-write-temp,sandbox-frames,sandbox-tunnel,shell-load}.test.ts',
];

/** Bounds of time and memory hold only where nothing else runs: one file after another, when all others are done. */
const budgets = '**/*.budget.test.ts';

/** Every case of sandboxes, in a project for each backend. */
const sandboxCases = [
  'src/workers/sandbox/functions/**/*.test.ts',
  'src/workers/agent/functions/sandbox.test.ts',
  'tests/spec/sandbox-jobs.test.ts',
  'tests/security/sandbox/sandbox-{callers,escape,memory,orphans}.test.ts',
];
/** Cases that run again on a backend with `isTestedMore`; by themselves these run on the default one. */
const moreCases = [
  'tests/security/sandbox/sandbox-{limits,memory-user}.test.ts',
  'tests/spec/guest-file-system.test.ts',
];
const folder = new URL('src/workers/sandbox/backends/', import.meta.url);
const backends = readdirSync(folder)
  .map((name) => new URL(`${name}/backend.json`, folder))
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')) as BackendFacts);

/** Many more paths through doors that other tests go through once: only `npm run test:full` runs them. */
const long = [
  'src/host/layers/whiteout.test.ts',
  'src/sandbox/images/presets/{build-preset,numpy}.test.ts',
  'src/workers/sandbox/backends/qemu/{boot,templates/make-template}.test.ts',
  'tests/e2e/**/{cli,commands,examples,guides,isolation,otlp-doors,package,sandbox-images,shared-workspace,shell,worker-run}.test.ts',
  'tests/e2e/mcp/mcp-{habits,inspector,long,tools}.test.ts',
  'tests/security/fence/ordinary-user.test.ts',
];

/** What starts no process and waits for nothing: seconds, for `npm run check`. */
const pure = [
  'console/src/**/*.test.ts',
  'src/{ai-sdk,assembly,cli,client,cluster,contract,engine,file-functions,library,otlp,protocol,surfaces,version}/**/*.test.ts',
  'tests/!(check|commits|contributing|sandboxes-ran).test.ts',
  'tests/pins/**/*.test.ts',
];

/** The files of a worker share their modules: reading them again for each takes longer than the tests. */
const together = {
  pure,
  unit: ['src/{access,egress,fence,host,job-functions,sandbox,testing,workers}/**/*.test.ts'],
  repo: ['tests/{check,commits,contributing,sandboxes-ran}.test.ts'],
  spec: ['tests/spec/**/*.{test,spec}.ts'],
  compat: ['tests/compat/**/*.test.ts'],
  security: ['tests/security/**/*.test.ts'],
  cluster: ['tests/cluster/**/*.test.ts'],
  e2e: ['tests/e2e/**/*.test.ts'],
};

/**
 * The projects of this run, named by scripts/check.mjs; all when it names none. Those that share their modules become one
 * project: Vitest starts processes for each, and reading the modules takes a process more than two seconds.
 */
const asked = process.env.WORKCELL_TEST_PROJECTS?.split(',');
const isAsked = (name: string) => asked?.includes(name) ?? true;
const merged = asked && Object.entries(together).filter(([name]) => isAsked(name));
const shared = merged ? { shared: merged.flatMap(([, include]) => include) } : together;
/** These run once where a backend of this run has them too. */
const ranElsewhere = backends.some(({ name, isTestedMore }) => asked?.includes(name) && isTestedMore) ? moreCases : [];

/** Keeps the journals of tests apart from those of the person who runs them, and from those of other runs. */
const stateHome = (process.env.WORKCELL_TEST_STATE_HOME ??= makeStateHome());

function makeStateHome(): string {
  const dir = mkdtempSync(join(tmpdir(), 'workcell-test-state-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/** Long enough for a machine with much else to do; a test that hangs is still noticed. */
const PATIENCE_MS = 60_000;
/** An emulated machine is slow at everything. */
const SLOW_PATIENCE_MS = 300_000;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Where Vitest runs the global set-up.
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    pool: 'forks',
    // The projects share what is transformed, and so does the next run.
    experimental: { fsModuleCache: true },
    env: { XDG_STATE_HOME: stateHome },
    sequence: { sequencer: SlowFirst },
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS / 2 } },
    passWithNoTests: true,
    reporters: ['default', './scripts/slowest-files.mjs', './scripts/closing-line.mjs'],
    projects: [
      ...Object.entries(shared).map(([name, include]) => ({
        extends: true as const,
        test: {
          name,
          include,
          exclude: [...alone, ...long, ...sandboxCases, ...ranElsewhere, budgets],
          isolate: false,
        },
      })),
      { extends: true as const, test: { name: 'system', include: alone, exclude: [budgets] } },
      { extends: true as const, test: { name: 'long', include: long, exclude: [budgets] } },
      ...backends.map(({ name, isTestedMore }) => ({
        extends: true as const,
        test: {
          name,
          include: [...sandboxCases, ...(isTestedMore ? moreCases : [])],
          exclude: [budgets],
          isolate: false,
          env: { WORKCELL_TEST_BACKEND: name },
          globalSetup: 'tests/build-images.ts',
          testTimeout: SLOW_PATIENCE_MS,
          hookTimeout: SLOW_PATIENCE_MS,
        },
      })),
      {
        extends: true as const,
        test: { name: 'budget', include: [budgets], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ].filter(({ test: { name } }) => name === 'shared' || isAsked(name)),
  },
});
