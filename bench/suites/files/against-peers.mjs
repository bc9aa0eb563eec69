/**
 * The tools of other servers beside ours, through the same door: MCP on standard input and output, one client, JSON
 * both ways.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { rgPath } from '@vscode/ripgrep';

import { formatMs, formatNumber } from '../../units.mjs';
import { DESKTOP_COMMANDER, SERVER_FILESYSTEM, startDesktopCommander, startServerFilesystem } from './peers.mjs';
import { startStandIn, STAND_IN } from '../stand-in/stand-in.mjs';
import { StdioServer } from './stdio-client.mjs';

const OURS = 'coder';
const SYNCED = `${OURS}, on the disk before it answers`;
const RIPGREP = 'rg --files';
/** On the tree alone, as a workspace: without the index, and with it. */
const READING = `${OURS}, reading`;
const IN_MEMORY = `${OURS}, in memory`;
/** More than it takes to bring the tree into memory, which a search begins. */
const INDEX_MS = 3000;

/** bench-files.R1, bench-files.L2, bench-files.T1, bench-files.F1 and bench-files.E1 */
export async function comparePeers(harness, corpus) {
  corpus.text('small.ts', 4000);
  corpus.flat('wide', harness.isQuick ? 2000 : 20_000);
  corpus.tree('tree', 5);

  const coder = new URL('./stdio-coder.mjs', import.meta.url).pathname;
  const servers = {};
  try {
    servers[OURS] = await StdioServer.start([coder, corpus.root, '{"fsync": false}']);
    servers[SYNCED] = await StdioServer.start([coder, corpus.root]);
    servers[READING] = await StdioServer.start([coder, corpus.path('tree'), '{"index": "off"}']);
    servers[IN_MEMORY] = await StdioServer.start([coder, corpus.path('tree')]);
    servers[SERVER_FILESYSTEM] = await startServerFilesystem(corpus.root);
    servers[DESKTOP_COMMANDER] = await startDesktopCommander(corpus.path('home'));
    servers[STAND_IN] = await startStandIn(corpus.root);
    for (const operation of operations(corpus)) await compareOperation(harness, servers, operation);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server?.stop()));
  }
}

/**
 * `cases` are requests by server; `bars` say how many times faster ours has to be, which is each of `ours`, and
 * `limits` how many times the other's time it may take.
 */
function operations(corpus) {
  const everything = { path: 'tree', max_depth: 100, per_folder_limit: 100_000 };
  const find = { query: 'module-3', include_globs: ['**/module-3.ts'], search_content: false };
  return [
    {
      id: 'R1',
      title: 'Reading 4 KB',
      bars: { [SERVER_FILESYSTEM]: 1.2, [DESKTOP_COMMANDER]: 8 },
      calls: 20,
      cases: {
        [SERVER_FILESYSTEM]: (ask) => ask('read_text_file', { path: corpus.path('small.ts') }),
        [DESKTOP_COMMANDER]: (ask) => ask('read_file', { path: corpus.path('small.ts') }),
        [OURS]: (ask) => ask('coder::read-file', { path: 'small.ts' }),
      },
    },
    {
      id: 'L2',
      title: 'Listing a folder with sizes: all of it, or a page of 100',
      note: 'Ours has listed the folder before and knows its names while it does not change.',
      bars: { [SERVER_FILESYSTEM]: 15 },
      cases: {
        [SERVER_FILESYSTEM]: (ask) => ask('list_directory_with_sizes', { path: corpus.path('wide') }),
        [OURS]: (ask) => ask('coder::list-folder', { path: 'wide' }),
      },
    },
    {
      id: 'T1',
      title: 'A tree of 364 folders and 2,184 files, as it is shown when nothing else is said',
      note: 'The first peer always shows everything, and only names; the second was asked for four levels of names. Ours has the size and time of every entry, and goes four levels deep by default, as the stand-in does.',
      bars: { [SERVER_FILESYSTEM]: 3 },
      limits: { [STAND_IN]: 1.3 },
      cases: {
        [SERVER_FILESYSTEM]: (ask) => ask('directory_tree', { path: corpus.path('tree') }),
        [DESKTOP_COMMANDER]: (ask) => ask('list_directory', { path: corpus.path('tree'), depth: 4 }),
        [STAND_IN]: (ask) => ask('coder::tree', { path: 'tree' }),
        [OURS]: (ask) => ask('coder::tree', { path: 'tree' }),
        [`${OURS}, everything`]: (ask) => ask('coder::tree', everything),
      },
    },
    {
      id: 'F1',
      title: 'Finding 364 of these files by a glob',
      note: 'Ours is opened on the tree: once it reads the folders for each search, once it keeps the tree in memory and hears of changes. rg is a process of its own that is started for each search.',
      bars: { [SERVER_FILESYSTEM]: 15, [RIPGREP]: 1.5 },
      ours: [READING, IN_MEMORY],
      prepare: () => sleep(INDEX_MS),
      warmUps: 5,
      cases: {
        [SERVER_FILESYSTEM]: (ask) => ask('search_files', { path: corpus.path('tree'), pattern: '**/module-3.ts' }),
        [RIPGREP]: () => listByGlob(corpus.path('tree'), 'module-3.ts'),
        [READING]: (ask) => ask('coder::search', find),
        [IN_MEMORY]: (ask) => ask('coder::search', find),
      },
    },
    editing(corpus),
  ];
}

function editing(corpus) {
  const FIRST_LINE = 'const value0 = compute(0, "text 0");';
  for (const name of ['ours.ts', 'synced.ts', 'one.ts', 'other.ts']) corpus.text(name, 190_000);
  const texts = { one: FIRST_LINE, other: FIRST_LINE };
  let edits = 0;
  const swap = (name) => {
    const old = texts[name];
    texts[name] = `edit ${++edits}`;
    return [old, texts[name]];
  };
  const ours = (path) => (ask) => {
    const op = { op: 'update_lines', from_line: 1, to_line: 1, content: `edit ${++edits}` };
    return ask('coder::update-file', { files: [{ path, ops: [op] }] });
  };
  return {
    id: 'E1',
    title: 'Replacing one line of 190 KB',
    note: 'The peers do not wait for the disk, nor does ours where the case does not name it. On an ext4 without a journal every file that was deleted in the last minutes makes each of them 0.1 µs slower, because the kernel skips its inode.',
    bars: { [SERVER_FILESYSTEM]: 3, [DESKTOP_COMMANDER]: 8 },
    warmUps: 30,
    cases: {
      [SERVER_FILESYSTEM]: (ask) => {
        const [oldText, newText] = swap('one');
        return ask('edit_file', { path: corpus.path('one.ts'), edits: [{ oldText, newText }] });
      },
      [DESKTOP_COMMANDER]: (ask) => {
        const [old_string, new_string] = swap('other');
        return ask('edit_block', { file_path: corpus.path('other.ts'), old_string, new_string });
      },
      [OURS]: ours('ours.ts'),
      [SYNCED]: ours('synced.ts'),
    },
  };
}

async function compareOperation(harness, servers, operation) {
  const {
    id,
    title,
    note,
    bars,
    limits = {},
    ours = [OURS],
    calls = 1,
    warmUps = 0,
    prepare = () => {},
    cases,
  } = operation;
  const there = Object.entries(cases).filter(([name]) => name in servers === false || servers[name]);
  const repeated = ([name, request]) => {
    const server = servers[name] ?? servers[OURS];
    return async () => {
      const started = performance.now();
      for (let i = 0; i < calls; i++) await request((...args) => server.call(...args));
      return { time: (performance.now() - started) / calls };
    };
  };
  const runs = Object.fromEntries(there.map((entry) => [entry[0], repeated(entry)]));
  for (const run of Object.values(runs)) for (let i = 0; i < (harness.isQuick ? 1 : warmUps); i++) await run();
  await prepare();

  const comparison = await harness.compare({ title, note, base: there[0][0], cases: runs, rounds: 21 });
  for (const name of ours) {
    for (const [peer, atLeast] of Object.entries(bars)) {
      if (!(peer in runs)) continue;
      const times = 1 / comparison.ratio('time', name, peer);
      harness.bar({
        id: name === OURS ? id : `${id} ${name.slice(OURS.length + 2)}`,
        goal: `≥ ${atLeast} × faster than ${peer}`,
        measured: `${formatNumber(times)} × (${formatMs(comparison.median('time', name))})`,
        met: times >= atLeast,
      });
    }
    for (const [peer, atMost] of Object.entries(limits)) {
      if (!(peer in runs)) continue;
      const times = comparison.ratio('time', name, peer);
      const goal = `≤ ${atMost} × the time of the ${peer}`;
      harness.bar({ id, goal, measured: `${formatNumber(times)} ×`, met: times <= atMost });
    }
  }
}

function listByGlob(root, glob) {
  const args = ['--no-config', '-uu', '--files', '--color', 'never', '-g', glob, '.'];
  const child = spawn(rgPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  });
}
