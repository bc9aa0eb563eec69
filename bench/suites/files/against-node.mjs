/** Listing, reading and editing beside the plain ways in Node, in this process. */
import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { openJail } from '#host';
import { applyLineOps } from '../../../dist/workers/coder/line-edits.js';
import { formatNumber, time } from '../../units.mjs';
import { openCoder } from './open-coder.mjs';

const OURS = 'coder';

/** bench-files.L1 */
export async function compareFolder(harness, corpus) {
  const count = harness.isQuick ? 20_000 : 200_000;
  corpus.flat('flat', count);
  const root = corpus.path('flat');
  const warm = await openCoder(root);
  await settle();
  await warm('coder::list-folder', {});

  const STAT_ALL = 'readdir and lstat of all';
  const FIRST = `${OURS}, first page`;
  const LATER = `${OURS}, a later page`;
  let page = 1;
  const listing = await harness.compare({
    title: `A page of 100 out of ${count.toLocaleString('en-US')} entries`,
    note: 'The first page is that of a coder that was just opened; the later ones are of the same coder, one after the other.',
    base: STAT_ALL,
    cases: {
      [STAT_ALL]: () => void statAll(root).slice(0, 100),
      [FIRST]: async () => {
        const call = await openCoder(root);
        return timed(() => call('coder::list-folder', {}));
      },
      [LATER]: () => timed(() => warm('coder::list-folder', { page: (++page % 30) + 2 })),
    },
    rounds: 11,
  });
  const [first, later] = [FIRST, LATER].map((name) => 1 / listing.ratio('time', name, STAT_ALL));
  harness.bar({
    id: 'L1',
    goal: 'first page ≥ 5 × faster than lstat of all, later pages ≥ 100 ×',
    measured: `${formatNumber(first)} ×, ${formatNumber(later)} ×`,
    met: first >= 5 && later >= 100,
  });
}

function statAll(root) {
  return readdirSync(root).map((name) => {
    const stat = lstatSync(`${root}/${name}`);
    return { name, isFile: stat.isFile(), size: stat.size, mtime: Math.floor(stat.mtimeMs / 1000) };
  });
}

/** bench-files.R3 */
export async function compareDeepLines(harness, corpus) {
  const mebibytes = harness.isQuick ? 64 : 1024;
  const lines = corpus.largeText('large.txt', mebibytes);
  const window = { path: 'large.txt', line_from: lines - 99, line_to: lines };
  const warm = await openCoder(corpus.root);
  await settle();
  await warm('coder::read-file', window);

  const READ = 'reading the bytes';
  const COLD = `${OURS}, first time`;
  const WARM = `${OURS}, again`;
  const deep = await harness.compare({
    title: `The last 100 lines of a file of ${mebibytes} MiB and ${lines.toLocaleString('en-US')} lines`,
    base: READ,
    cases: {
      [READ]: () => readThrough(corpus.path('large.txt')),
      [COLD]: async () => {
        const call = await openCoder(corpus.root);
        return timed(() => call('coder::read-file', window));
      },
      [WARM]: () => timed(() => warm('coder::read-file', window)),
    },
    rounds: 9,
  });
  const cold = deep.ratio('time', COLD, READ);
  const again = 1 / deep.ratio('time', WARM, COLD);
  harness.bar({
    id: 'R3',
    goal: 'first time ≤ 1.5 × of reading the bytes, again ≥ 50 × faster than that',
    measured: `${formatNumber(cold)} ×, ${formatNumber(again)} ×`,
    met: cold <= 1.5 && again >= 50,
  });
}

const block = Buffer.alloc(1 << 20);

function readThrough(path) {
  const fd = openSync(path, 'r');
  while (readSync(fd, block, 0, block.length, null) > 0);
  closeSync(fd);
}

/** bench-files.J1: its time only; tests/security checks that nothing escapes. */
export async function compareJail(harness, corpus) {
  const path = 'a/b/c/d/f.txt';
  corpus.text(path, 4000);
  const jail = openJail(corpus.root);
  const READS = 2000;
  const often = (read) => () => {
    const started = process.cpuUsage();
    for (let i = 0; i < READS; i++) read();
    const { user, system } = process.cpuUsage(started);
    return { time: (user + system) / 1000 / READS };
  };
  const REALPATH = 'realpath, open, read';
  const JAIL = 'the jail';
  const reads = await harness.compare({
    title: 'Opening a file in the jail and reading it',
    note: 'realpath and open is what others do; a link swapped in between leads it out.',
    base: REALPATH,
    measures: { time: { label: 'processor time', unit: time } },
    cases: {
      [REALPATH]: often(() => readAndClose(openSync(realPathInside(corpus.root, path), 'r'))),
      [JAIL]: often(() => {
        const file = jail.open(path);
        readSync(file.fd, block, 0, 4096, 0);
        file.close();
      }),
      'open and read, unchecked': often(() => readAndClose(openSync(`${corpus.root}/${path}`, 'r'))),
    },
    rounds: 21,
  });
  const ratio = reads.ratio('time', JAIL, REALPATH);
  harness.bar({
    id: 'J1',
    goal: 'the jail ≤ 0.8 × of realpath and open',
    measured: `${formatNumber(ratio)} ×`,
    met: ratio <= 0.8,
  });
}

function realPathInside(root, path) {
  const real = realpathSync.native(`${root}/${path}`);
  if (!real.startsWith(`${root}/`)) throw new Error('outside');
  return real;
}

function readAndClose(fd) {
  readSync(fd, block, 0, 4096, 0);
  closeSync(fd);
}

/** bench-files.E1 for many operations: the work between reading and writing. */
export async function compareLineEdits(harness) {
  const text = Buffer.from('  const välue = compute(3720, "text 12");\n'.repeat(250_000));
  const ops = Array.from({ length: 1000 }, (_, i) => editAt(i, i * 250 + 125));
  const scope = { call: { signal: new AbortController().signal } };
  const { text: edited } = await applyLineOps(text, ops, scope);
  if (!edited.equals(spliceLines(text, ops))) throw new Error('the two ways differ');

  const SPLICES = 'split, splice, join';
  const edits = await harness.compare({
    title: '1,000 line operations on 250,000 lines of 10 MB, in memory',
    base: SPLICES,
    cases: {
      [SPLICES]: () => void spliceLines(text, ops),
      [OURS]: async () => void (await applyLineOps(text, ops, scope)),
    },
    rounds: 21,
  });
  const ratio = edits.ratio('time', OURS, SPLICES);
  harness.bar({
    id: 'E1, 1,000 operations',
    goal: '≤ 0.15 × of split and splice',
    measured: `${formatNumber(ratio)} ×`,
    met: ratio <= 0.15,
  });
}

function editAt(i, line) {
  const number = i + 1;
  if (i % 3 === 0) return { number, op: 'insert', at_line: line, content: `// new line ${i}` };
  if (i % 3 === 1) return { number, op: 'remove', from_line: line, to_line: line };
  return { number, op: 'update_lines', from_line: line, to_line: line + 1, content: `x ${i}` };
}

function spliceLines(text, ops) {
  const lines = text.toString().split('\n');
  const from = (op) => op.at_line ?? op.from_line;
  for (const op of ops.toSorted((a, b) => from(b) - from(a))) {
    const removed = op.op === 'insert' ? 0 : op.to_line - op.from_line + 1;
    lines.splice(from(op) - 1, removed, ...(op.content === undefined ? [] : [op.content]));
  }
  return Buffer.from(lines.join('\n'));
}

/** bench-files.R2 */
export async function compareResponse(harness, corpus) {
  corpus.text('ten.txt', 10 << 20);
  const path = corpus.path('ten.txt');
  const call = await openCoder(corpus.root);
  const PLAIN = 'readFile and JSON.stringify';
  const responses = await harness.compare({
    title: 'A file of 10 MiB to the bytes of a response',
    note: 'Ours includes the version, which is a hash of the content.',
    base: PLAIN,
    cases: {
      [PLAIN]: async () => void Buffer.from(JSON.stringify({ content: await readFile(path, 'utf8') })),
      [OURS]: async () => void (await call('coder::read-file', { path: 'ten.txt' })).parts(),
    },
    rounds: 11,
  });
  const times = 1 / responses.ratio('time', OURS, PLAIN);
  harness.bar({
    id: 'R2',
    goal: '≥ 8 × faster than readFile and JSON.stringify',
    measured: `${formatNumber(times)} ×`,
    met: times >= 8,
  });
}

async function timed(work) {
  const started = performance.now();
  await work();
  return { time: performance.now() - started };
}

/** Waits: a file changed just now is not cached by its mtime. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
