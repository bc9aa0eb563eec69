/**
 * npm run bench [-- suite…] [--quick] [--strict] [--write]
 *
 * A suite is a file in suites/ that exports `name`, `description` and `run(harness)`; its line in SUITES makes it
 * known. --quick only shows that it works, --strict fails on a missed bar, --write puts the report into
 * docs/benchmarks.md.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Harness } from './harness.mjs';
import { withSection } from './report.mjs';

const SUITES = [
  'access', //
  'agent',
  'bus',
  'changes',
  'cluster',
  'exec',
  'files',
  'filesystem',
  'mcp',
  'sandbox',
  'search',
];
const DOCUMENT = 'docs/benchmarks.md';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
process.exitCode = await main();

async function main() {
  const { names, options, problem } = readCommandLine();
  if (problem) return complain(problem);

  const prepared = spawnSync(process.execPath, ['scripts/prepare.mjs'], { stdio: 'inherit' });
  if (prepared.status !== 0) return complain('the build failed, and old code is not worth measuring');

  let missed = 0;
  for (const name of names) {
    const suite = await import(`./suites/${name}.mjs`);
    const harness = new Harness({ suite: suite.name, isQuick: options.quick, print: console.log });
    console.log(`\n## ${suite.name}: ${suite.description}`);
    await suite.run(harness);
    harness.closeBars();
    missed += harness.bars.filter(({ met }) => !met).length;
    if (options.write) write(suite, harness);
  }
  return options.strict && missed > 0 ? 1 : 0;
}

function readCommandLine() {
  const flag = { type: 'boolean', default: false };
  let parsed;
  try {
    parsed = parseArgs({ options: { quick: flag, strict: flag, write: flag }, allowPositionals: true });
  } catch (error) {
    return { problem: error.message };
  }
  const { values: options, positionals } = parsed;
  const stranger = positionals.find((name) => !SUITES.includes(name));
  if (stranger !== undefined) return { problem: `no suite "${stranger}"; there is: ${SUITES.join(', ')}` };
  if (options.quick && options.write) return { problem: '--quick measures too little to be written down' };

  return { names: positionals.length > 0 ? positionals : SUITES, options };
}

function write(suite, harness) {
  const section = [`## ${suite.name}`, suite.description, circumstances(suite), harness.markdown].join('\n\n');
  writeFileSync(DOCUMENT, withSection(readFileSync(DOCUMENT, 'utf8'), suite.name, section));
  console.log(`\nWritten to ${DOCUMENT}.`);
}

/** Facts of this machine that a reader needs to repeat it. */
function circumstances({ name }) {
  const processors = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${processors.length} cores, ${processors[0].model.trim()}`;
  return `Measured ${date} with Node ${process.versions.node} on ${machine}, by \`npm run bench -- ${name} --write\`.`;
}

function complain(problem) {
  process.stderr.write(`bench: ${problem}\n`);
  return 2;
}
