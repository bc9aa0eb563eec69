/**
 * The checks of the repository in tiers: the static ones beside the tests, which leave processors idle while they wait.
 * `node scripts/check.mjs TIER`, where TIER is check, test or full.
 *
 * Nothing stops at the first failure, so one run shows all there is to mend. Each static step is the npm script
 * of the same name; their results follow those of the tests, which print as they run. Further arguments go to vitest,
 * and then only the tests run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { defaultBackend } from './backends.mjs';
import { closingLines } from './closing-line.mjs';

/** `lint` reports errors of types too: checking them once more with `tsc` is for the full run. */
const STATIC_STEPS = ['lint', 'format:check', 'knip', 'docs:check'];

/**
 * What runs in each tier: static steps, projects of vitest.config.ts, all where there is no list, and how often: see
 * src/testing/rounds.ts. `more`: processes beside one for each processor. A process of `npm test` computes in two thirds
 * of its time, so that two more keep the processors busy; those of `check` only compute.
 */
const TIERS = {
  check: { steps: STATIC_STEPS, projects: async () => ['pure'], rounds: 'quick', more: 0 },
  test: {
    steps: STATIC_STEPS,
    projects: async () => [
      ...['pure', 'unit', 'system', 'repo', 'spec', 'compat', 'security', 'cluster', 'e2e'],
      await strongestBackend(),
    ],
    rounds: 'quick',
    more: 2,
  },
  full: { steps: ['types', ...STATIC_STEPS], projects: async () => [], rounds: 'full', more: 1 },
};

/** The type checkers are written in Go, whose garbage collector takes a quarter of their time at its default setting. */
const COLLECT_LATE = { GOGC: process.env.GOGC ?? '400' };

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const [tierName, ...vitestArgs] = process.argv.slice(2);
const tier = TIERS[tierName];
if (!tier) throw new Error(`${tierName} is not a tier: ${Object.keys(TIERS).join(', ')}`);

/** As an option, because one in vitest.config.ts would win over `--maxWorkers` in every project. */
const workersArg = vitestArgs.some((arg) => arg.startsWith('--maxWorkers'))
  ? []
  : [`--maxWorkers=${availableParallelism() + tier.more}`];

const staticSteps = vitestArgs.length > 0 ? [] : runStaticSteps();
const counts = await runTests(vitestArgs.includes('--project') ? [] : await tier.projects());
for (const { name, isOk, seconds, output } of await staticSteps) {
  report(isOk ? 'ok' : 'FAIL', name, seconds);
  if (isOk) continue;
  counts.failed += 1;
  counts.failures.push([name]);
  console.log(`${output.trimEnd()}\n`);
}
console.log(closingLines(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function strongestBackend() {
  const { isOk, output } = await run('node scripts/strongest-backend.mjs');
  if (isOk) return output.trim().split('\n').at(-1);
  console.log(output);
  return defaultBackend;
}

/** One after another: each uses several processors when they are idle. */
async function runStaticSteps() {
  const results = [];
  for (const name of tier.steps) results.push({ name, ...(await run(scripts[name], { env: COLLECT_LATE })) });
  return results;
}

/** vitest's own counts; one failure more when it fails without a failure there. */
async function runTests(projects) {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-check-'));
  const countsFile = join(folder, 'counts.json');
  try {
    const { isOk, seconds, ended } = await run('vitest run', {
      args: [...workersArg, ...vitestArgs],
      stdio: 'inherit',
      env: {
        WORKCELL_TEST_COUNTS: countsFile,
        WORKCELL_TEST_TIER: tier.rounds,
        ...(projects.length > 0 && { WORKCELL_TEST_PROJECTS: projects.join() }),
      },
    });
    const counts = existsSync(countsFile)
      ? JSON.parse(readFileSync(countsFile, 'utf8'))
      : { passed: 0, failed: 0, skipped: 0, failures: [] };
    const hasRun = counts.passed + counts.failed + counts.skipped > 0;
    if ((!isOk || !hasRun) && counts.failed === 0) {
      counts.failed = 1;
      const reason = hasRun ? 'no test failed: the reason is in the output above' : 'no test ran';
      counts.failures.push(['vitest', `${ended}, but ${reason}`]);
    }

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

  const [exitCode, signal] = await once(child, 'close');
  const ended = signal === null ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
  return { isOk: exitCode === 0, ended, seconds: `${((performance.now() - started) / 1000).toFixed(1)} s`, output };
}

/** One word of a command line. */
function quoted(word) {
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

function report(result, name, remark) {
  console.log(`${result.padEnd(4)}  ${name.padEnd(12)}  ${remark}`);
}
