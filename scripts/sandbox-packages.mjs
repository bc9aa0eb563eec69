/**
 * Makes sure that the programs which the sandbox and its tests call are there: `node scripts/sandbox-packages.mjs`,
 * with `--tests` for the tests as well.
 *
 * To run, it brings what the backends need that say `isBroughtAtStart` in their backend.json. `workcell setup` brings more. It installs with apt as root, after saying so, and only names what is missing otherwise;
 * the tests that need it skip with that reason. It never fails: a machine without a compiler can still test everything
 * else. It runs before any package of npm is there, so it imports nothing but Node.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { backends, commonNeeds } from './backends.mjs';

/** Any of the programs will do; the package brings the first. */
const ONLY_TO_TEST = [
  { programs: ['gcc'], package: 'gcc', for: 'the attacks on the sandbox' },
  { programs: ['busybox'], package: 'busybox-static', for: 'the root of test sandboxes' },
  { programs: ['skopeo'], package: 'skopeo', for: 'the tests of pulling' },
  { programs: ['docker-registry'], package: 'docker-registry', for: 'the tests of pulling' },
  { programs: ['zstd'], package: 'zstd', for: 'the tests of unpacking' },
];

const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];
const APT_MS = 300_000;

const isForTests = process.argv.includes('--tests');
const needed = isForTests
  ? [...needsOf(() => true), ...ONLY_TO_TEST]
  : needsOf(({ isBroughtAtStart }) => isBroughtAtStart);
const missing = needed.filter(({ programs }) => !programs.some(isThere));
if (process.platform === 'linux' && missing.length > 0) install(missing);

/** Packages of every backend, and the rest for those that are wanted. */
function needsOf(isWanted) {
  const rows = [...commonNeeds, ...backends.filter(isWanted).flatMap(({ needs }) => needs)];
  return rows.filter(({ arch = process.arch }) => arch === process.arch);
}

function install(rows) {
  const packages = [...new Set(rows.map((row) => row.package))];
  const wishes = rows.map((row) => `${row.package} (${row.for})`).join(', ');
  if (process.env.WORKCELL_NO_APT || process.geteuid() !== 0 || !isThere('apt-get')) {
    say(`missing: ${wishes}. To install: ${commandFor(packages)}`);
    return;
  }
  say(`missing: ${wishes}. Installing: ${commandFor(packages)}`);
  if (run(commandFor(packages)) || run(`apt-get update && ${commandFor(packages)}`)) return;

  // A package that this system lacks must not stop the others from being installed.
  const failed = packages.filter((name) => !run(commandFor([name])));
  if (failed.length > 0) say(`not installed: ${failed.join(', ')}; what needs them says so`);
}

function commandFor(packages) {
  return `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
}

function run(words) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('sh', ['-c', words], { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: APT_MS }).status === 0;
}

function isThere(program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.some((folder) => existsSync(join(folder, program)));
}

function say(line) {
  process.stderr.write(`sandbox: ${line}\n`);
}
