/**
 * The checks of the repository in tiers: the static ones side by side, then the tests. `node scripts/check.mjs TIER`,
 * where TIER is check, test or full.
 *
 * Nothing stops at the first failure, so one run shows all there is to mend. Each static step is the npm script
 * of the same name. Further arguments go to vitest, and then only the tests run.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { closingLine } from './closing-line.mjs';

const STATIC_STEPS = ['types', 'lint', 'format:check', 'knip', 'docs:check'];
const AT_ONCE = 2;

/** What runs in each tier: projects of vitest.config.ts, all where there is no list, and how often: see src/testing/rounds.ts. */
const TIERS = {
  check: { projects: async () => ['pure'], rounds: 'quick' },
  test: {
    projects: async () => [
      ...['pure', 'unit', 'system', 'repo', 'spec', 'compat', 'security', 'e2e'],
      await strongestBackend(),
    ],
    rounds: 'quick',
  },
  full: { projects: async () => [], rounds: 'full' },
};

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const [tierName, ...vitestArgs] = process.argv.slice(2);
const tier = TIERS[tierName];
if (!tier) throw new Error(`${tierName} is not a tier: ${Object.keys(TIERS).join(', ')}`);

const projects = vitestArgs.includes('--project') ? [] : tier.projects();
const failedSteps = vitestArgs.length > 0 ? 0 : await runStaticSteps();
const counts = await runTests(await projects);
counts.failed += failedSteps;
console.log(closingLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function strongestBackend() {
  const { isOk, output } = await run('node scripts/strongest-backend.mjs');
  if (isOk) return output.trim().split('\n').at(-1);
  console.log(output);
  return 'namespaces';
}

/** The number of steps that failed. */
async function runStaticSteps() {
  const waiting = [...STATIC_STEPS];
  let failures = 0;
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (!(await runStaticStep(name))) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return failures;
}

async function runStaticStep(name) {
  if (name === 'docs:check' && !existsSync('scripts/docs.mjs')) {
    report('skip', name, 'scripts/docs.mjs does not exist');
    return true;
  }
  const { isOk, seconds, output } = await run(scripts[name]);
  report(isOk ? 'ok' : 'FAIL', name, seconds);
  if (!isOk) console.log(`${output.trimEnd()}\n`);
  return isOk;
}

/** vitest's own counts; one failure more when it fails without saying so there. */
async function runTests(projects) {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-check-'));
  const countsFile = join(folder, 'counts.json');
  try {
    const { isOk, seconds } = await run('vitest run', {
      args: [...projects.flatMap((name) => ['--project', name]), ...vitestArgs],
      stdio: 'inherit',
      env: { WORKCELL_TEST_COUNTS: countsFile, WORKCELL_TEST_TIER: tier.rounds },
    });
    const counts = existsSync(countsFile)
      ? JSON.parse(readFileSync(countsFile, 'utf8'))
      : { passed: 0, failed: 0, skipped: 0 };
    const hasRun = counts.passed + counts.failed + counts.skipped > 0;
    if (!hasRun) console.log('No test ran.');
    if ((!isOk || !hasRun) && counts.failed === 0) counts.failed = 1;

    report(counts.failed === 0 ? 'ok' : 'FAIL', 'vitest', seconds);
    return counts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(command, { args = [], stdio = ['ignore', 'pipe', 'pipe'], env = {} } = {}) {
  const started = performance.now();
  // The shell finds the tools as npm would, also when this file is run without npm.
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter);
  const child = spawn([command, ...args.map(quoted)].join(' '), {
    shell: true,
    stdio,
    env: { ...process.env, PATH: path, ...env },
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));

  const exitCode = await new Promise((done, fail) => child.on('close', done).on('error', fail));
  return { isOk: exitCode === 0, seconds: `${((performance.now() - started) / 1000).toFixed(1)} s`, output };
}

/** One word of a command line. */
function quoted(word) {
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

function report(result, name, remark) {
  console.log(`${result.padEnd(4)}  ${name.padEnd(12)}  ${remark}`);
}
