/**
 * Costs of a tool call for an agent: `workcell mcp` as it is shipped, with all its tools, beside the reference server for
 * files, each in a process of its own and asked by the same client.
 */
import { writeFileSync } from 'node:fs';

import { median, percentile } from '../statistics.mjs';
import { formatMs, formatNumber, time } from '../units.mjs';
import { Corpus } from './files/corpus.mjs';
import { SERVER_FILESYSTEM as PEER, startServerFilesystem } from './files/peers.mjs';
import { StdioServer } from './files/stdio-client.mjs';
import { HttpServer } from './mcp/http-server.mjs';

export const name = 'mcp';
export const description =
  'Round trips of tool calls through MCP, beside the reference server for files; one call at a time.';

const OURS = 'workcell, stdio';
const OURS_HTTP = 'workcell, HTTP';
const CALLS = 100;
/** Calls before anything is measured: these servers run for hours, and the first calls only compile them. */
const WARM_UP_CALLS = 2000;
const CLI = 'dist/cli/main.js';

export async function run(harness) {
  const corpus = new Corpus();
  const servers = {};
  try {
    const work = makeWork(corpus);
    servers[PEER] = await startServerFilesystem(corpus.path('work'));
    if (!servers[PEER]) return;
    const common = ['--workspace', corpus.path('work'), '--config', configFile(corpus)];
    servers[OURS] = await StdioServer.start([CLI, 'mcp', ...common]);
    servers[OURS_HTTP] = await HttpServer.start([CLI, 'start', '--port', '0', ...common]);
    if (!harness.isQuick) await warmUp(servers, work[0]);
    for (const operation of work) await compareOperation(harness, servers, operation);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server?.stop()));
    corpus.remove();
  }
}

/** All workers with their shipped defaults, but for the disk: the peer does not wait for it either. */
function configFile(corpus) {
  const file = corpus.path('config.yaml');
  const workers = [
    { name: 'coder', config: { fsync: false } },
    { name: 'shell' },
    { name: 'filesystem', config: { fsync: false } },
    { name: 'iii-sandbox' },
  ];
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ workers }));
  return file;
}

function makeWork(corpus) {
  corpus.text('work/small.ts', 4000);
  corpus.flat('work/flat', 100);
  corpus.tree('work/tree', 3);
  return [
    {
      id: 'M1',
      title: 'Reading 4 KB',
      peer: { tool: 'read_text_file', request: () => ({ path: corpus.path('work/small.ts') }) },
      ours: { tool: 'coder_read_file', request: () => ({ path: 'small.ts' }) },
    },
    {
      id: 'M2',
      title: 'Listing 100 files with their sizes',
      peer: { tool: 'list_directory_with_sizes', request: () => ({ path: corpus.path('work/flat') }) },
      ours: { tool: 'coder_list_folder', request: () => ({ path: 'flat' }) },
    },
    editing(corpus),
    {
      id: 'M4',
      title: 'Finding 40 of 240 files by a glob',
      peer: {
        tool: 'search_files',
        request: () => ({ path: corpus.path('work/tree'), pattern: '**/module-3.ts' }),
      },
      ours: {
        tool: 'coder_search',
        request: () => ({ query: 'module-3', path: 'tree', include_globs: ['**/module-3.ts'], search_content: false }),
      },
    },
  ];
}

function editing(corpus) {
  corpus.text('work/peer.ts', 4000);
  corpus.text('work/ours.ts', 4000);
  let edits = 0;
  let oldText = 'const value0 = compute(0, "text 0");';
  return {
    id: 'M3',
    title: 'Replacing a line of 4 KB, not synced to the disk',
    peer: {
      tool: 'edit_file',
      request: () => {
        const newText = `edit ${++edits}`;
        const edit = { oldText, newText };
        oldText = newText;
        return { path: corpus.path('work/peer.ts'), edits: [edit] };
      },
    },
    ours: {
      tool: 'coder_update_file',
      request: () => {
        const op = { op: 'update_lines', from_line: 1, to_line: 1, content: `edit ${++edits}` };
        return { files: [{ path: 'ours.ts', ops: [op] }] };
      },
    },
  };
}

async function warmUp(servers, { peer, ours }) {
  for (const [label, server] of Object.entries(servers)) {
    const { tool, request } = label === PEER ? peer : ours;
    for (let i = 0; i < WARM_UP_CALLS; i++) await server.call(tool, request());
  }
}

async function compareOperation(harness, servers, { id, title, peer, ours }) {
  const calls = harness.isQuick ? 10 : CALLS;
  const repeated = (server, { tool, request }) => {
    return async () => {
      const latencies = [];
      for (let i = 0; i < calls; i++) {
        const sent = performance.now();
        await server.call(tool, request());
        latencies.push(performance.now() - sent);
      }
      return { p50: median(latencies), p95: percentile(latencies, 0.95) };
    };
  };
  const comparison = await harness.compare({
    title,
    base: PEER,
    measures: { p50: { label: 'p50', unit: time }, p95: { label: 'p95', unit: time } },
    cases: Object.fromEntries(
      Object.entries(servers).map(([label, server]) => [label, repeated(server, label === PEER ? peer : ours)]),
    ),
  });
  const times = 1 / comparison.ratio('p50', OURS, PEER);
  harness.bar({
    id,
    goal: `≥ 1 × as fast as ${PEER}, over stdio`,
    measured: `${formatNumber(times)} × (${formatMs(comparison.median('p50', OURS))})`,
    met: times >= 1,
  });
}
