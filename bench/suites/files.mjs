/**
 * Reading, listing and trees beside what others do: the peer's own tools, and the plain ways in Node.
 *
 * Comparisons with the peer go through the same door: MCP on standard input and output, one client, JSON both ways.
 */
import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs';

import { openJail } from '#host';
import { formatMs, formatNumber, time } from '../units.mjs';
import { Corpus } from './files/corpus.mjs';
import { has, openCoder } from './files/open-coder.mjs';
import { PEER, peerEntry } from './files/peer.mjs';
import { StdioServer } from './files/stdio-client.mjs';

export const name = 'files';
export const description =
  'coder beside the plain ways in Node, in one process, and beside the MCP reference server for files, each in its own.';

const OURS = 'coder';

export async function run(harness) {
  const corpus = new Corpus();
  try {
    await compareFolder(harness, corpus);
    await compareDeepLines(harness, corpus);
    await compareJail(harness, corpus);
    await comparePeer(harness, corpus);
  } finally {
    corpus.remove();
  }
}

/** L1 */
async function compareFolder(harness, corpus) {
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

/** R3 */
async function compareDeepLines(harness, corpus) {
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

/** J1: the time it takes. That nothing escapes is for tests/security to say. */
async function compareJail(harness, corpus) {
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

/** R1, L2, T1 and E1 */
async function comparePeer(harness, corpus) {
  const entry = peerEntry();
  if (!entry) {
    console.log(`\n${PEER} could not be installed: no comparison with it.`);
    return;
  }
  corpus.text('small.ts', 4000);
  corpus.flat('wide', harness.isQuick ? 2000 : 20_000);
  corpus.tree('tree', 5);

  const servers = [];
  const start = async (...args) => {
    const server = await StdioServer.start(args);
    servers.push(server);
    return server;
  };
  try {
    const ours = await start(new URL('./files/stdio-coder.mjs', import.meta.url).pathname, corpus.root);
    const peer = await start(entry, corpus.root);
    for (const operation of peerOperations(corpus)) await compareOperation(harness, { ours, peer }, operation);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function peerOperations(corpus) {
  const everything = { path: 'tree', max_depth: 100, per_folder_limit: 100_000 };
  const operations = [
    {
      id: 'R1',
      title: 'Reading 4 KB',
      atLeast: 1.2,
      ours: () => ['coder::read-file', { path: 'small.ts' }],
      peer: () => ['read_text_file', { path: corpus.path('small.ts') }],
      calls: 50,
    },
    {
      id: 'L2',
      title: 'Listing a folder with sizes: all of it, or a page of 100',
      note: 'Ours has listed the folder before and knows its names while it does not change.',
      atLeast: 15,
      ours: () => ['coder::list-folder', { path: 'wide' }],
      peer: () => ['list_directory_with_sizes', { path: corpus.path('wide') }],
    },
    {
      id: 'T1',
      title: 'A tree of 364 folders and 2,184 files, as it is shown when nothing else is said',
      note: 'The peer always shows everything, and only names. Ours has the size and time of every entry, and goes four levels deep unless told otherwise.',
      atLeast: 3,
      ours: () => ['coder::tree', { path: 'tree' }],
      more: { [`${OURS}, everything`]: () => ['coder::tree', everything] },
      peer: () => ['directory_tree', { path: corpus.path('tree') }],
    },
  ];
  return has('coder::update-file') ? [...operations, editing(corpus)] : operations;
}

function editing(corpus) {
  for (const name of ['ours.ts', 'peer.ts']) corpus.text(name, 190_000);
  const FIRST_LINE = 'const value0 = compute(0, "text 0");';
  let text = FIRST_LINE;
  let edits = 0;
  return {
    id: 'E1',
    title: 'Replacing one line of 190 KB, not synced to the disk',
    atLeast: 3,
    ours: () => {
      const op = { op: 'update_lines', from_line: 1, to_line: 1, content: `edit ${++edits}` };
      return ['coder::update-file', { files: [{ path: 'ours.ts', ops: [op] }] }];
    },
    peer: () => {
      const edit = { oldText: text, newText: `edit ${++edits}` };
      text = edit.newText;
      return ['edit_file', { path: corpus.path('peer.ts'), edits: [edit] }];
    },
  };
}

async function compareOperation(harness, { ours, peer }, { id, title, note, atLeast, calls = 1, ...requests }) {
  const repeated = (server, request) => async () => {
    const started = performance.now();
    for (let i = 0; i < calls; i++) await server.call(...request());
    return { time: (performance.now() - started) / calls };
  };
  const comparison = await harness.compare({
    title,
    note,
    base: PEER,
    cases: {
      [PEER]: repeated(peer, requests.peer),
      [OURS]: repeated(ours, requests.ours),
      ...mapValues(requests.more ?? {}, (request) => repeated(ours, request)),
    },
    rounds: 21,
  });
  const times = 1 / comparison.ratio('time', OURS, PEER);
  harness.bar({
    id,
    goal: `≥ ${atLeast} × faster than ${PEER}`,
    measured: `${formatNumber(times)} × (${formatMs(comparison.median('time', OURS))})`,
    met: times >= atLeast,
  });
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

async function timed(work) {
  const started = performance.now();
  await work();
  return { time: performance.now() - started };
}

/** What has just been made is not kept by its times yet. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
