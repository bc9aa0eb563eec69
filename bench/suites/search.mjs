/**
 * Search beside plain ripgrep on the same trees: reading the files, and from memory.
 *
 * ripgrep's output is read and thrown away; ours comes sorted, with columns and texts as objects. Files that the two
 * treat differently, such as binary ones, are one in a hundred.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { median } from '../statistics.mjs';
import { formatNumber } from '../units.mjs';
import { DESKTOP_COMMANDER, startDesktopCommander } from './files/peers.mjs';
import { StdioServer } from './files/stdio-client.mjs';
import { corpora } from './search/corpora.mjs';
import { searchByPeer } from './search/desktop-commander.mjs';
import { openEngine, search } from './search/engine.mjs';
import { measureFidelity } from './search/fidelity.mjs';
import { measureFreshness } from './search/freshness.mjs';
import { compareRealTrees } from './search/real-trees.mjs';
import { rg } from './search/rg.mjs';
import { longestTurnMs } from './search/turns.mjs';
import { startStandIn, STAND_IN } from './stand-in/stand-in.mjs';

export const name = 'search';
export const description =
  'Our search beside `rg` 15: 30, 3,000 and 110,000 generated source files, read from the page cache or kept in memory; and trees that are there anyway, over the bus. ' +
  "Ours has coder's protected globs to hold against every path.";

const NOTHING = 'zqx_no_such_symbol_9';
const SOME = 'registerTrigger';
const COMMON = 'import';
const REGEX = 'use(Memo|Callback)\\(\\s*\\(\\)\\s*=>';
const REGEX_WITHOUT_LITERAL = '[0-9]{4}-[0-9]{2}-[0-9]{2}';

const CODER = fileURLToPath(new URL('./files/stdio-coder.mjs', import.meta.url));

const RG = 'rg';
const OURS = 'ours';

export async function run(harness) {
  const trees = corpora(harness);
  await compareCold(harness, trees);
  await compareWarm(harness, trees.medium);
  await compareOverBudget(harness, trees.large);
  await compareRealTrees(harness);
  await measureTurns(harness, trees.medium);
  measureFidelity(harness);
  await compareWithPeer(harness, trees.medium);
  await compareWithStandIn(harness, trees.medium, { size: 'medium', rounds: 15, times: 2.5 });
  await compareWithStandIn(harness, trees.large, { size: 'large', rounds: 9, times: 4 });
}

async function compareCold(harness, { small, medium, large }) {
  const bars = [
    ['S1', 'medium', medium, NOTHING, 61, (ratio) => ratio <= 1.1, '≤ 1.10 × rg'],
    ['S1', 'large', large, NOTHING, 15, (ratio) => ratio <= 1.1, '≤ 1.10 × rg'],
    ['S2', 'small', small, NOTHING, 61, (ratio) => ratio <= 1 / 8, '≤ 0.125 × rg (8 times as fast)'],
    ['S3', 'medium', medium, COMMON, 15, (ratio) => ratio <= 0.5, '≤ 0.5 × rg'],
    ['S3', 'large', large, COMMON, 15, (ratio) => ratio <= 0.5, '≤ 0.5 × rg'],
  ];
  for (const [id, size, root, query, rounds, isMet, goal] of bars) {
    const engine = openEngine(root);
    const ratio = await compare(harness, `reading ${size}: ${query}`, { engine, root, query, rounds });
    harness.bar({ id: `${id} ${size}`, goal, measured: `${formatNumber(ratio)} ×`, met: isMet(ratio) });
    engine.close();
  }
}

async function compareWarm(harness, root) {
  const engine = openEngine(root, { index: 'auto', indexMemoryBytes: 512 * 2 ** 20 });
  await warmUp(engine);
  const bars = [
    { id: 'S4 no match', query: NOTHING, options: {}, times: 20 },
    { id: 'S4 with matches', query: SOME, options: {}, times: 15 },
    { id: 'S6 regex with a literal', query: REGEX, options: { isRegex: true }, times: 3 },
    { id: 'S6 regex without', query: REGEX_WITHOUT_LITERAL, options: { isRegex: true }, times: 1.3 },
  ];
  for (const { id, query, options, times } of bars) {
    const ratio = await compare(harness, `in memory: ${query}`, { engine, root, query, options, rounds: 41 });
    const measured = `${formatNumber(1 / ratio)} times`;
    harness.bar({ id, goal: `≥ ${times} times as fast as rg`, measured, met: 1 / ratio >= times });
  }

  const edits = harness.isQuick ? 100 : 1000;
  const { stale, ratio } = await measureFreshness(engine, root, edits);
  const measured = `${stale} stale of ${edits}, p50 ${formatNumber(ratio)} ×`;
  harness.bar({ id: 'S7', goal: '0 stale, p50 ≤ 0.25 × rg', measured, met: stale === 0 && ratio <= 0.25 });
  engine.close();
}

async function compareOverBudget(harness, root) {
  const engine = openEngine(root, { index: 'auto', indexMemoryBytes: (harness.isQuick ? 64 : 512) * 2 ** 20 });
  await warmUp(engine);
  for (const query of [NOTHING, SOME]) {
    const ratio = await compare(harness, `large, more than fits in memory: ${query}`, {
      engine,
      root,
      query,
      rounds: 15,
    });
    const measured = `${formatNumber(1 / ratio)} times`;
    harness.bar({ id: `S5 ${query}`, goal: '≥ 10 times as fast as rg', measured, met: 1 / ratio >= 10 });
  }
  engine.close();
}

/** 100,000 matches, which is as many as an answer has. */
async function measureTurns(harness, root) {
  for (const where of ['read', 'in memory']) {
    const engine = openEngine(root, where === 'read' ? {} : { index: 'auto', indexMemoryBytes: 512 * 2 ** 20 });
    if (where === 'in memory') await warmUp(engine);
    const turns = [];
    for (let round = 0; round < (harness.isQuick ? 3 : 15); round++) {
      turns.push(await longestTurnMs(() => search(engine, COMMON, { maxMatches: 100_000 })));
    }
    const measured = `${formatNumber(median(turns))} ms`;
    harness.bar({ id: `event loop, ${where}`, goal: 'no turn > 50 ms', measured, met: median(turns) <= 50 });
    engine.close();
  }
}

/** Both over MCP on standard input and output, each in a process of its own. */
async function compareWithPeer(harness, root) {
  const home = mkdtempSync(join(tmpdir(), 'workcell-bench-peer-'));
  const peer = await startDesktopCommander(home);
  if (!peer) return;

  const cold = await StdioServer.start([CODER, root, JSON.stringify({ index: 'off' })]);
  const warm = await StdioServer.start([CODER, root]);
  try {
    await sleep(2000);
    for (const query of [NOTHING, SOME]) {
      const comparison = await harness.compare({
        title: `over MCP: ${query}`,
        base: DESKTOP_COMMANDER,
        cases: {
          [DESKTOP_COMMANDER]: () => searchByPeer(peer, root, query),
          'coder, reading': async () => void (await cold.call('coder::search', { query })),
          'coder, in memory': async () => void (await warm.call('coder::search', { query })),
        },
        rounds: 15,
      });
      const [read, kept] = ['coder, reading', 'coder, in memory'].map(
        (name) => 1 / comparison.ratio('time', name, DESKTOP_COMMANDER),
      );
      const measured = `${formatNumber(read)} and ${formatNumber(kept)} times`;
      const goal = `≥ 1.5 times as fast as ${DESKTOP_COMMANDER} reading, ≥ 10 in memory`;
      harness.bar({ id: `S9 ${query}`, goal, measured, met: read >= 1.5 && kept >= 10 });
    }
  } finally {
    await Promise.all([peer.stop(), cold.stop(), warm.stop()]);
    rmSync(home, { recursive: true, force: true });
  }
}

/** The same, beside the plain way in Rust. */
async function compareWithStandIn(harness, root, { size, rounds, times }) {
  const standIn = await startStandIn(root);
  if (!standIn) return;

  const cold = await StdioServer.start([CODER, root, JSON.stringify({ index: 'off' })]);
  try {
    const ask = (server, query) => server.call('coder::search', { query });
    const [theirs, ours] = await Promise.all([standIn, cold].map((server) => ask(server, SOME)));
    if (placesIn(theirs) !== placesIn(ours)) throw new Error('the two find different things');

    const comparison = await harness.compare({
      title: `over MCP, reading ${size}: ${NOTHING}`,
      base: STAND_IN,
      cases: {
        [STAND_IN]: async () => void (await ask(standIn, NOTHING)),
        'coder, reading': async () => void (await ask(cold, NOTHING)),
      },
      rounds,
    });
    const faster = 1 / comparison.ratio('time', 'coder, reading', STAND_IN);
    const goal = `≥ ${times} times as fast as the ${STAND_IN}`;
    harness.bar({ id: `S8 ${size}`, goal, measured: `${formatNumber(faster)} times`, met: faster >= times });
  } finally {
    await Promise.all([standIn.stop(), cold.stop()]);
  }
}

/**
 * Matches, sorted. Only their count if there are more than an answer holds: the stand-in returns them in directory order.
 */
function placesIn(answer) {
  const { content_matches: matches, truncated } = JSON.parse(answer);
  if (truncated) return String(matches.length);
  return matches
    .map(({ path, line, column }) => `${path}:${line}:${column}`)
    .sort()
    .join('\n');
}

/** How many times rg's time ours is. */
async function compare(harness, title, { engine, root, query, options = {}, rounds }) {
  const comparison = await harness.compare({
    title,
    base: RG,
    cases: {
      [RG]: async () => void (await rg(root, query, options)),
      [OURS]: async () => void (await search(engine, query, options)),
    },
    rounds,
  });
  return comparison.ratio('time', OURS, RG);
}

async function warmUp(engine) {
  await search(engine, NOTHING);
  while (!engine.isWarm) await sleep(50);
}
