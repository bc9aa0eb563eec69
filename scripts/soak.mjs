/** Runs the long attacks at their full counts: `npm test` runs the same tests with fewer rounds. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const suites = [
  'tests/security',
  'src/workers/shell/functions/fs/read.test.ts',
  'src/host/search/indexed/warm.test.ts',
  'src/workers/sandbox/backends',
  ...process.argv.slice(2),
];
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--testTimeout', '3600000', '--no-file-parallelism', ...suites],
  { stdio: 'inherit', env: { ...process.env, WORKCELL_SOAK: '1' } },
);
process.exitCode = status ?? 1;
