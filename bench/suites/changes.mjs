/** Changes over a workspace of 125,000 files: begin, commands, reads, diff and commit, beside a worktree of git. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { percentile } from '../statistics.mjs';
import { formatMs, formatNumber, time } from '../units.mjs';
import { openChanges } from './changes/open-changes.mjs';
import { Tree } from './changes/tree.mjs';

export const name = 'changes';
export const description = 'change over a workspace of many files, beside `git worktree add` of the same files.';

const FILES = 125_000;
const QUICK_FILES = 5_000;
/** Of the tree that begin is compared with. */
const FEW_FILES = 1_000;

export async function run(harness) {
  const tree = new Tree(harness.isQuick ? QUICK_FILES : FILES);
  try {
    const cell = await openChanges(tree.workspace, { stateDir: tree.state, fsync: false });
    await measureBegin(harness, tree, cell);
    await compareCommands(harness, cell);
    await compareReads(harness, tree, cell);
    await measureRefresh(harness, cell);
    await compareWalks(harness, tree, cell);
    await measureDiffAndCommit(harness, tree, cell);
    await cell.close();
    const synced = await openChanges(tree.workspace, { stateDir: tree.state, fsync: true });
    await measureCommit(harness, tree, synced, { title: 'with fsync', limitMs: 1000, seed: 7 });
    await synced.close();
    measureWorktree(harness, tree);
  } finally {
    tree.remove();
  }
}

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Over both trees in turn, so that other work of the machine slows both. */
async function measureBegin(harness, { count }, cell) {
  const few = new Tree(FEW_FILES);
  const other = await openChanges(few.workspace, { stateDir: few.state, fsync: false });
  const times = { few: [], many: [] };
  try {
    for (let round = 0; round < (harness.isQuick ? 3 : 40); round++) {
      for (const [size, served] of [
        ['few', other],
        ['many', cell],
      ]) {
        const { ms, result } = await timed(() => served.call('change::begin'));
        if (round > 0) times[size].push(ms);
        await served.call('change::discard', { change: result.change });
      }
    }
  } finally {
    await other.close();
    few.remove();
  }
  const p95 = percentile(times.many, 0.95);
  const files = `begin over ${count.toLocaleString('en-US')} files`;
  harness.bar({ id: 'L1', goal: `${files}, p95 ≤ 20 ms`, measured: formatMs(p95), met: p95 <= 20 });
  const [p50, fewP50] = [percentile(times.many, 0.5), percentile(times.few, 0.5)];
  harness.bar({
    id: 'L10',
    goal: `${files} ≤ 1.3 times that over ${FEW_FILES.toLocaleString('en-US')}`,
    measured: `${(p50 / fewP50).toFixed(2)} times, ${formatMs(p50)} and ${formatMs(fewP50)}`,
    met: p50 <= 1.3 * fewP50,
  });
}

async function compareCommands(harness, cell) {
  const { change } = await cell.call('change::begin');
  const comparison = await harness.compare({
    title: '/bin/true by shell::exec',
    base: 'plain',
    cases: {
      plain: async () => void (await cell.call('shell::exec', { command: '/bin/true' })),
      'in a change': async () => void (await cell.call('shell::exec', { command: '/bin/true', change })),
    },
    rounds: 41,
  });
  const more = comparison.median('time', 'in a change') - comparison.median('time', 'plain');
  harness.bar({ id: 'L2', goal: 'command in a change ≤ plain + 2 ms', measured: `+${formatMs(more)}`, met: more <= 2 });
  await cell.call('change::discard', { change });
}

async function compareReads(harness, tree, cell) {
  const { change } = await cell.call('change::begin');
  const path = tree.path(0);
  const comparison = await harness.compare({
    title: `coder::read-file of ${tree.text(0).length} bytes`,
    base: 'workspace',
    cases: {
      workspace: async () => void (await cell.call('coder::read-file', { path })),
      'in a change': async () => void (await cell.call('coder::read-file', { path, change })),
    },
    rounds: 1001,
  });
  const ms = comparison.median('time', 'in a change');
  harness.bar({ id: 'L3', goal: 'read in a change ≤ 0.25 ms', measured: formatMs(ms), met: ms <= 0.25 });
  await cell.call('change::discard', { change });
}

async function measureRefresh(harness, cell) {
  const { change } = await cell.call('change::begin');
  const layer = cell.layers.find(change);
  const times = [];
  const lease = await layer.enter();
  for (let round = 0; round < (harness.isQuick ? 3 : 30); round++) {
    times.push((await timed(() => layer.mounted.refresh())).ms);
  }
  lease[Symbol.dispose]();
  const p50 = percentile(times, 0.5);
  harness.bar({ id: 'L4', goal: 'refresh ≤ 5 ms', measured: formatMs(p50), met: p50 <= 5 });
  await cell.call('change::discard', { change });
}

/** A program that stats every file, twice: the first walk after a refresh has to look every name up again. */
async function compareWalks(harness, tree, cell) {
  const { change } = await cell.call('change::begin');
  const programs = {
    find: `find ${tree.workspace} -name nothing`,
    grep: `grep -rl 'no such text' ${tree.workspace}`,
  };
  for (const [name, line] of Object.entries(programs)) {
    const clock = 'date +%s%N';
    const args = ['-c', `${clock}; ${line}; ${clock}; ${line}; ${clock}`];
    const running = (more) => async () => {
      const { stdout } = await cell.call('shell::exec', { command: 'sh', args, timeout_ms: 300_000, ...more });
      const [start, middle, end] = stdout.trim().split('\n').map(BigInt);
      return { first: Number(middle - start) / 1e6, again: Number(end - middle) / 1e6 };
    };
    const comparison = await harness.compare({
      title: `${name} over ${tree.count.toLocaleString('en-US')} files`,
      base: 'workspace',
      cases: { workspace: running({}), 'in a change': running({ change }) },
      measures: { first: { label: 'first walk of a command', unit: time }, again: { label: 'again', unit: time } },
      rounds: 7,
    });
    const [first, ratio] = ['first', 'again'].map((walk) => comparison.ratio(walk, 'in a change', 'workspace'));
    harness.bar({
      id: name === 'find' ? 'L8' : 'L9',
      goal: `${name} in a change ≤ 1.8 times that in the workspace`,
      measured: `${ratio.toFixed(2)} times, the first after a refresh ${first.toFixed(2)}`,
      met: ratio <= 1.8,
    });
  }
  await cell.call('change::discard', { change });
}

/** The layer of the bar: 1,010 modified, 150 deleted, 30 renamed, 20 modes, 103 added. */
async function measureDiffAndCommit(harness, tree, cell) {
  const { change } = await cell.call('change::begin');
  await inView(cell, change, (view) => {
    const at = (index) => join(view, tree.path((index * 97) % tree.count));
    for (let index = 0; index < 1010; index++) edit(at(index), index);
    for (let index = 1010; index < 1160; index++) unlinkSync(at(index));
    for (let index = 1160; index < 1190; index++) renameSync(at(index), `${at(index)}.renamed`);
    for (let index = 1190; index < 1210; index++) chmodSync(at(index), 0o755);
    mkdirSync(join(view, 'added'));
    for (let index = 0; index < 103; index++) writeFileSync(join(view, 'added', `n${index}`), `new ${index}\n`);
  });
  const times = [];
  let summary;
  for (let round = 0; round < (harness.isQuick ? 2 : 9); round++) {
    const { ms, result } = await timed(() => cell.call('change::diff', { change, max_output_bytes: 4 * 2 ** 20 }));
    ({ summary } = result);
    times.push(ms);
  }
  const ms = percentile(times, 0.5);
  const { modified, deleted, renamed, mode, added } = summary;
  harness.bar({
    id: 'L5',
    goal: `${modified} modified, ${deleted} deleted, ${renamed} renamed, ${mode} modes, ${added} added, with lines: ≤ 300 ms`,
    measured: formatMs(ms),
    met: ms <= 300,
  });
  await cell.call('change::discard', { change });
  await measureCommit(harness, tree, cell, { title: 'without fsync', limitMs: 400, seed: 3 });
}

async function measureCommit(harness, tree, cell, { title, limitMs, seed }) {
  const [times, bare] = [[], []];
  for (let round = 0; round < (harness.isQuick ? 1 : 5); round++) {
    const paths = (odd) =>
      Array.from({ length: 1000 }, (_, index) => tree.path((index * 178 + 2 * seed + odd) % tree.count));
    const { change } = await cell.call('change::begin');
    await inView(cell, change, (view) => {
      for (const path of paths(0)) edit(join(view, path), round);
    });
    // The layer of the round before.
    await cell.layers.store.swept();
    // Right before the commit: after many files were deleted, some file systems take ten times as long to make one.
    bare.push((await timed(() => replaceAll(tree, paths(1)))).ms);
    times.push((await timed(() => cell.call('change::commit', { change }))).ms);
  }
  const ms = percentile(times, 0.5);
  const calls = title === 'with fsync' ? '' : ` (the system calls alone ${formatMs(percentile(bare, 0.5))})`;
  harness.bar({
    id: title === 'with fsync' ? 'L7' : 'L6',
    goal: `commit of 1,000 files ${title} ≤ ${formatNumber(limitMs)} ms`,
    measured: `${formatMs(ms)}${calls}`,
    met: ms <= limitMs,
  });
}

/** Replaces files and keeps the former ones, with as few system calls as that takes. */
function replaceAll(tree, paths) {
  const store = mkdtempSync(join(tree.root, 'images-'));
  for (const [index, path] of paths.entries()) {
    const at = join(tree.workspace, path);
    const content = readFileSync(at);
    writeFileSync(`${at}.tmp`, content);
    linkSync(at, join(store, `${index}`));
    renameSync(`${at}.tmp`, at);
  }
}

async function inView(cell, change, work) {
  const layer = cell.layers.find(change);
  const lease = await layer.enter();
  try {
    work(layer.view);
  } finally {
    lease[Symbol.dispose]();
  }
}

function edit(path, value) {
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.splice(1, 1, `changed ${value}`, 'and another line');
  const temp = `${path}.tmp`;
  writeFileSync(temp, lines.join('\n'));
  renameSync(temp, path);
}

function measureWorktree(harness, tree) {
  tree.git('init', '-q');
  tree.git('add', '-A');
  tree.git('commit', '-qm', 'all');
  const start = performance.now();
  tree.git('worktree', 'add', '-q', '--detach', join(tree.root, 'worktree'));
  const ms = performance.now() - start;
  harness.table({
    title: 'git worktree add of the same files',
    note: 'Once: it writes every file. It has no untracked and no ignored files.',
    head: ['files', 'time'],
    rows: [[tree.count.toLocaleString('en-US'), formatMs(ms)]],
  });
  rmSync(join(tree.root, 'worktree'), { recursive: true, force: true });
}
