/** Runs the long attacks at their full counts: `npm run test:full` and `npm test` run the same tests with fewer rounds. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const suites = [
  'tests/security',
  'tests/cluster',
  'src/workers/shell/functions/fs/read.budget.test.ts',
  'src/host/search/indexed/warm.test.ts',
  'src/workers/sandbox/backends',
  ...process.argv.slice(2),
];
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--testTimeout', '3600000', '--no-file-parallelism', ...suites],
  { stdio: 'inherit', env: { ...process.env, WORKCELL_TEST_TIER: 'soak' } },
);
process.exitCode = status ?? 1;
