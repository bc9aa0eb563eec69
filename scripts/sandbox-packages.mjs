/**
 * Makes sure that the programs which the sandbox and its tests call are there: `node scripts/sandbox-packages.mjs`,
 * with `--tests` for the tests as well.
 *
 * It installs with apt as root, after saying so, and only names what is missing otherwise; the tests that need it skip
 * with that reason. It never fails: a machine without a compiler can still test everything else. It runs before any
 * package of npm is there, so it imports nothing but Node.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Any of the programs will do; the package brings the first. */
const TO_RUN = [
  { programs: ['musl-gcc', 'gcc'], package: 'musl-tools', for: 'building the guest agent' },
  { programs: ['mmdebstrap'], package: 'mmdebstrap', for: 'building the python and node images' },
];
const TO_TEST = [
  { programs: ['gcc'], package: 'gcc', for: 'the attacks on the sandbox' },
  { programs: ['busybox'], package: 'busybox-static', for: 'the root of test sandboxes' },
  { programs: ['skopeo'], package: 'skopeo', for: 'the tests of pulling' },
  { programs: ['docker-registry'], package: 'docker-registry', for: 'the tests of pulling' },
  { programs: ['zstd'], package: 'zstd', for: 'the tests of unpacking' },
];

const APT_MS = 300_000;

const needed = process.argv.includes('--tests') ? [...TO_RUN, ...TO_TEST] : TO_RUN;
const missing = needed.filter(({ programs }) => !programs.some(isThere));
if (process.platform === 'linux' && missing.length > 0) install(missing);

function install(rows) {
  const packages = [...new Set(rows.map((row) => row.package))];
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  const wishes = rows.map((row) => `${row.package} (${row.for})`).join(', ');
  if (process.env.WORKCELL_NO_APT || process.geteuid() !== 0 || !isThere('apt-get')) {
    say(`missing: ${wishes}. To install: ${command}`);
    return;
  }
  say(`missing: ${wishes}. Installing: ${command}`);
  const run = (words) => spawnSync('sh', ['-c', words], { stdio: ['ignore', 'ignore', 'inherit'], timeout: APT_MS });
  if (run(command).status !== 0 && run(`apt-get update && ${command}`).status !== 0) {
    say('that failed; what needs them says so');
  }
}

function isThere(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function say(line) {
  process.stderr.write(`sandbox: ${line}\n`);
}
