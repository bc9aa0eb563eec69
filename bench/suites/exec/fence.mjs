/** Costs of the fence: the program that does nothing, and the tests of a small project. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Fence, FenceError } from '#fence';
import { formatNumber } from '../../units.mjs';

const OPEN = 'without the fence';
const FENCED = 'inside the fence';
const MOST_MS = 6;
const MOST_RATIO = 1.03;
const CAP_BYTES = 1024 * 1024;
const PATHS = { read: [], layers: [], write: [], hide: [] };

export async function measureFence(harness, children) {
  const workspace = mkdtempSync(join(tmpdir(), 'fence-bench-'));
  makeProject(workspace);
  const fence = new Fence({
    workspace,
    protect: ['**/.env'],
    network: 'loopback',
    egress: { allow: [], deny: [] },
    paths: PATHS,
  });
  try {
    await fence.open();
    await compareStarts(harness, children, { fence, workspace });
    await compareTests(harness, children, { fence, workspace });
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    harness.bar({ id: 'X4', goal: 'the fence can be built', measured: error.message, met: false });
  } finally {
    await fence.close();
    rmSync(workspace, { recursive: true, force: true });
  }
}

async function compareStarts(harness, children, place) {
  const argv = ['/bin/true'];
  const comparison = await harness.compare({
    title: '/bin/true inside the fence',
    base: OPEN,
    cases: { [OPEN]: () => run(children, argv, place, false), [FENCED]: () => run(children, argv, place, true) },
    rounds: 101,
  });
  const moreMs = comparison.median('time', FENCED) - comparison.median('time', OPEN);
  const measured = `${formatNumber(moreMs)} ms`;
  harness.bar({ id: 'X5', goal: `/bin/true inside the fence: ≤ ${MOST_MS} ms more`, measured, met: moreMs <= MOST_MS });
}

async function compareTests(harness, children, place) {
  const argv = ['npm', 'test'];
  const comparison = await harness.compare({
    title: 'npm test of a small project inside the fence',
    note: '40 test files, which read, write and start programs.',
    base: OPEN,
    cases: { [OPEN]: () => run(children, argv, place, false), [FENCED]: () => run(children, argv, place, true) },
    rounds: 7,
  });
  const ratio = comparison.ratio('time', FENCED, OPEN);
  const measured = `${formatNumber(ratio)} ×`;
  harness.bar({ id: 'X6', goal: `npm test inside the fence: ≤ ${MOST_RATIO} ×`, measured, met: ratio <= MOST_RATIO });
}

async function run(children, argv, { fence, workspace }, isFenced) {
  const launch = isFenced ? await fence.launch() : undefined;
  const env = { PATH: process.env.PATH, ...(isFenced ? await fence.environment() : { HOME: process.env.HOME }) };
  const job = await children.start({ argv, cwd: workspace, env, launch, maxOutputBytes: CAP_BYTES });
  const { exitCode, stdout, stderr } = await job.done;
  if (exitCode !== 0) throw new Error(`${argv.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`);
}

function makeProject(root) {
  mkdirSync(join(root, 'test'));
  writeFileSync(join(root, 'package.json'), '{"name":"small","type":"module","scripts":{"test":"node --test test/"}}');
  for (let at = 0; at < 40; at++) {
    writeFileSync(
      join(root, `test/part-${at}.test.js`),
      `import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync, rmSync } from 'node:fs';
import assert from 'node:assert';
import { test } from 'node:test';
test('files', () => {
  for (let i = 0; i < 50; i++) writeFileSync(\`out-${at}-\${i}\`, 'x'.repeat(1000));
  for (let i = 0; i < 50; i++) assert.equal(readFileSync(\`out-${at}-\${i}\`).length, 1000);
  for (let i = 0; i < 50; i++) rmSync(\`out-${at}-\${i}\`);
});
test('programs', () => assert.equal(String(execFileSync('echo', ['hi'])), 'hi\\n'));
`,
    );
  }
}
