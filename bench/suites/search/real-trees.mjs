/**
 * Search over the bus beside `rg`, on trees not made for it: what the repository has installed, and what the
 * system has under /usr.
 *
 * A client calls a server that was just started, three times in a row; then it continues with other searches, which are
 * those of a tree that is in memory.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { formatNumber, time } from '../../units.mjs';
import { rg } from './rg.mjs';
import { ServedTree } from './served-tree.mjs';

const NODE_MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const TREES = [
  { name: 'node_modules', root: NODE_MODULES, few: 'registerCapabilities' },
  { name: '/usr/include', root: '/usr/include', few: 'pthread_mutex_timedlock' },
  { name: '/usr/share/doc', root: '/usr/share/doc', few: 'Free Software Foundation Europe' },
];

const NOTHING = 'zqx_no_such_symbol_9';
const SHORT_LITERAL = { query: '\\bstruct\\s+\\w+_ops\\b', options: { isRegex: true } };
const WITHOUT_LITERAL = { query: '[A-Z]{3}-[0-9]{3,}', options: { isRegex: true } };

/** Lines of the large answer, about. */
const MANY = 16_000;
const ALL = 100_000;
/** Words of which one is in about so many lines of any tree. */
const WORDS = [
  'this',
  'with',
  'from',
  'return',
  'const',
  'value',
  'static',
  'file',
  'function',
  'string',
  'export',
  'struct',
];

const RG = 'rg';
const OURS = 'ours';
const CALLS = ['first', 'second', 'third'];

export async function compareRealTrees(harness) {
  for (const tree of TREES.filter(({ root }) => existsSync(root))) {
    await compareStarts(harness, tree);
    await compareLaterCalls(harness, tree);
  }
}

/** Each round starts a server and calls it three times, as fast as it answers. */
async function compareStarts(harness, { name, root, few }) {
  const comparison = await harness.compare({
    title: `${name}, after a start: ${few}`,
    base: RG,
    cases: {
      [RG]: () => thrice(() => timeOf(() => rg(root, few))),
      [OURS]: async () => {
        const served = await ServedTree.start(root);
        const times = await thrice(async () => (await served.search(few)).time);
        await served.stop();
        return times;
      },
    },
    measures: Object.fromEntries(CALLS.map((call) => [call, { label: `${call} call`, unit: time }])),
    rounds: 11,
  });
  const [first, , third] = CALLS.map((call) => comparison.ratio(call, OURS, RG));
  harness.bar({
    id: `S10 ${name}, first call`,
    goal: '≤ 1.5 × rg',
    measured: `${formatNumber(first)} ×`,
    met: first <= 1.5,
  });
  barOfTimes(harness, `S11 ${name}, third call`, 5, third);
}

async function compareLaterCalls(harness, { name, root, few }) {
  const served = await ServedTree.start(root);
  try {
    for (let call = 0; call < 2; call++) await served.search(NOTHING);
    const many = await wordInMany(root);
    const bars = [
      { id: 'S12 no match', query: NOTHING, times: 5 },
      { id: 'S12 few matches', query: few, times: 5 },
      { id: 'S13 16,000 matches', query: many, options: { maxMatches: ALL }, times: 3 },
      { id: 'S14 regex with a short literal', ...SHORT_LITERAL, times: 3 },
      { id: 'S14 regex without a literal', ...WITHOUT_LITERAL, times: 1 },
    ];
    for (const { id, query, options = {}, times } of bars) {
      const comparison = await harness.compare({
        title: `${name}, a later call: ${query}`,
        base: RG,
        cases: {
          [RG]: async () => void (await rg(root, query, options)),
          [OURS]: async () => ({ time: (await served.search(query, options)).time }),
        },
        rounds: 21,
      });
      barOfTimes(harness, `${id}, ${name}`, times, comparison.ratio('time', OURS, RG));
    }
  } finally {
    await served.stop();
  }
}

function barOfTimes(harness, id, times, ratio) {
  const goal = times === 1 ? 'not slower than rg' : `≥ ${times} times as fast as rg`;
  harness.bar({ id, goal, measured: `${formatNumber(1 / ratio)} times`, met: 1 / ratio >= times });
}

/** The word whose lines are nearest to `MANY`. */
async function wordInMany(root) {
  const counts = [];
  for (const word of WORDS) counts.push({ word, lines: await rg(root, word, { maxMatches: ALL }) });
  return counts.toSorted((a, b) => Math.abs(a.lines - MANY) - Math.abs(b.lines - MANY))[0].word;
}

async function thrice(call) {
  const times = {};
  for (const name of CALLS) times[name] = await call();
  return times;
}

async function timeOf(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
