/**
 * filesystem beside the MCP reference server for files, each in a process of its own, through the same door: MCP on
 * standard input and output, one client, JSON both ways.
 */
import { utimesSync } from 'node:fs';

import { formatMs, formatNumber } from '../units.mjs';
import { Corpus } from './files/corpus.mjs';
import { SERVER_FILESYSTEM as PEER, startServerFilesystem } from './files/peers.mjs';
import { StdioServer } from './files/stdio-client.mjs';
import { plantForest } from './filesystem/forest.mjs';
import { compareInlineReads } from './filesystem/inline-reads.mjs';

export const name = 'filesystem';
export const description =
  'The filesystem worker beside the MCP reference server for files, each in a process of its own and behind the same door.';

const OURS = 'filesystem';
const OURS_NEW = `${OURS}, just started`;
const PROGRAM = new URL('./filesystem/stdio-filesystem.mjs', import.meta.url).pathname;
/** Files that a client asks for at once. */
const READ_AT_ONCE = 100;

export async function run(harness) {
  const corpus = new Corpus();
  const servers = [];
  const keep = (server) => {
    if (server) servers.push(server);
    return server;
  };
  try {
    await compareInlineReads(harness, corpus);
    const peer = keep(await startServerFilesystem(corpus.root));
    if (!peer) return;
    const startOurs = async () => keep(await StdioServer.start([PROGRAM, corpus.root, '4GB']));
    const parties = { ours: await startOurs(), peer, startOurs };
    for (const operation of operations(harness, corpus)) await compareOperation(harness, parties, operation);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    corpus.remove();
  }
}

function* operations(harness, corpus) {
  corpus.text('small.ts', 4000);
  yield {
    id: 'FS1',
    title: 'Reading 4 KB',
    atLeast: 1,
    calls: 50,
    ours: (server) => server.call('filesystem::read', { path: corpus.path('small.ts') }),
    peer: (server) => server.call('read_text_file', { path: corpus.path('small.ts') }),
  };
  yield editing(corpus);
  yield* windows(harness, corpus);
  yield listing(harness, corpus);
  yield* searching(harness, corpus);
}

function editing(corpus) {
  for (const file of ['ours.ts', 'peer.ts']) corpus.text(file, 190_000);
  const texts = { ours: 'const value0 = compute(0, "text 0");', peer: 'const value0 = compute(0, "text 0");' };
  let edits = 0;
  const next = (party) => {
    const [from, to] = [texts[party], `edit ${++edits}`];
    texts[party] = to;
    return [from, to];
  };
  return {
    id: 'FS2',
    title: 'Replacing a text in 190 KB, not synced to the disk',
    atLeast: 1,
    ours: (server) => {
      const [old_string, new_string] = next('ours');
      return server.call('filesystem::edit', { path: corpus.path('ours.ts'), old_string, new_string });
    },
    peer: (server) => {
      const [oldText, newText] = next('peer');
      return server.call('edit_file', { path: corpus.path('peer.ts'), edits: [{ oldText, newText }] });
    },
  };
}

function* windows(harness, corpus) {
  const mebibytes = harness.isQuick ? 64 : 1024;
  const lines = corpus.largeText('large.txt', mebibytes);
  const path = corpus.path('large.txt');
  const first = Math.floor(lines / 20);
  const window = (start_line) => (server) =>
    server.call('filesystem::read', { path, start_line, end_line: start_line + 99 });
  /** A file that changed has its lines counted anew; one that changed just now does not count as known afterwards. */
  const touch = async () => {
    utimesSync(path, new Date(0), new Date(Date.now() - 60_000 * Math.random()));
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const size = `${mebibytes} MiB and ${lines.toLocaleString('en-US')} lines`;
  yield {
    id: 'FS3',
    title: `100 lines at line ${first.toLocaleString('en-US')} of a file of ${size}`,
    note: 'The peer knows the first and the last lines of a file: it is asked for all lines up to these. The file was touched before each call but those that say again.',
    atLeast: 5,
    rounds: 7,
    before: touch,
    ours: window(first),
    more: { [`${OURS}, again`]: window(first) },
    peer: (server) => server.call('read_text_file', { path, head: first + 99 }),
  };
  yield {
    title: `The last 100 lines of a file of ${size}`,
    note: 'The peer reads from the end and cannot say which lines these are. Ours counts the lines once, when it first gets there.',
    rounds: 7,
    before: touch,
    ours: window(lines - 99),
    more: { [`${OURS}, again`]: window(lines - 99) },
    peer: (server) => server.call('read_text_file', { path, tail: 100 }),
  };
}

function listing(harness, corpus) {
  const count = harness.isQuick ? 5000 : 100_000;
  corpus.flat('wide', count);
  const path = corpus.path('wide');
  return {
    id: 'FS4',
    title: `Listing ${count.toLocaleString('en-US')} entries with their sizes`,
    note: 'Ours lists the first thousand by name and says that there is more, unless it is asked for everything.',
    atLeast: 5,
    rounds: 7,
    ours: (server) => server.call('filesystem::ls', { path }),
    more: { [`${OURS}, everything`]: (server) => server.call('filesystem::ls', { path, max_results: 100_000 }) },
    peer: (server) => server.call('list_directory_with_sizes', { path }),
  };
}

function* searching(harness, corpus) {
  const count = harness.isQuick ? 5000 : 100_000;
  plantForest(corpus, 'forest', count);
  const path = corpus.path('forest');
  const files = `${count.toLocaleString('en-US')} files`;
  yield {
    id: 'FS5',
    title: `Finding ${count / 1000} of ${files} by name`,
    atLeast: 5,
    rounds: 5,
    ours: (server) => server.call('filesystem::find', { path, pattern: 'rare.ts', max_results: 1000 }),
    isNewToo: true,
    peer: (server) => server.call('search_files', { path, pattern: '**/rare.ts' }),
  };
  yield {
    id: 'FS6',
    title: `Finding a word in ${files}`,
    note: `The peer has no search in contents: its client reads every file, ${READ_AT_ONCE} at once, and looks itself. Ours keeps what it read.`,
    atLeast: 5,
    rounds: 3,
    ours: (server) => server.call('filesystem::grep', { path, pattern: 'needle_9', max_results: 1000 }),
    isNewToo: true,
    peer: (server) => grepByReading(server, path),
  };
}

/** Operations of a client of the peer. */
async function grepByReading(server, path) {
  const listed = await server.call('search_files', { path, pattern: '**/*.ts' });
  const paths = listed.split('\n');
  const matches = [];
  for (let at = 0; at < paths.length; at += READ_AT_ONCE) {
    const text = await server.call('read_multiple_files', { paths: paths.slice(at, at + READ_AT_ONCE) });
    for (const line of text.split('\n')) if (line.includes('needle_9')) matches.push(line);
  }
  return matches;
}

async function compareOperation(harness, { ours, peer, startOurs }, operation) {
  const { id, title, note, atLeast, before, calls = 1, rounds = 15, isNewToo = false, more = {} } = operation;
  const repeated = (server, request, prepare) => async () => {
    await prepare?.();
    const started = performance.now();
    for (let i = 0; i < calls; i++) await request(server);
    return { time: (performance.now() - started) / calls };
  };
  const onNew = async () => {
    const server = await startOurs();
    const measured = await repeated(server, operation.ours)();
    await server.stop();
    return measured;
  };
  const comparison = await harness.compare({
    title,
    note,
    base: PEER,
    cases: {
      [PEER]: repeated(peer, operation.peer),
      [OURS]: repeated(ours, operation.ours, before),
      ...(isNewToo && { [OURS_NEW]: onNew }),
      ...Object.fromEntries(Object.entries(more).map(([label, request]) => [label, repeated(ours, request)])),
    },
    rounds,
  });
  if (id === undefined) return;

  const times = (label) => 1 / comparison.ratio('time', label, PEER);
  const remark = isNewToo ? `; just started ${formatNumber(times(OURS_NEW))} ×` : '';
  harness.bar({
    id,
    goal: `≥ ${atLeast} × as fast as ${PEER}`,
    measured: `${formatNumber(times(OURS))} × (${formatMs(comparison.median('time', OURS))})${remark}`,
    met: times(OURS) >= atLeast,
  });
}
