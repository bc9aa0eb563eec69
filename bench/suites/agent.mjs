/**
 * What scripted coding tasks cost an agent: calls, tokens of the replies, and the tokens of the tool definitions that stand
 * in front of every conversation.
 *
 * A script walks each task once, knowing the way: the numbers compare tools, not models.
 */
import { spawnSync } from 'node:child_process';

import { encode } from 'gpt-tokenizer/encoding/o200k_base';

import { median } from '../statistics.mjs';
import { formatNumber } from '../units.mjs';
import { DESKTOP_COMMANDER, SERVER_FILESYSTEM, startDesktopCommander, startServerFilesystem } from './files/peers.mjs';
import { StdioServer } from './files/stdio-client.mjs';
import { makeRepositories } from './agent/repositories.mjs';
import { TASKS } from './agent/tasks.mjs';

export const name = 'agent';
export const description =
  'Scripted coding tasks through MCP as it is shipped: calls, tokens, failures, processes left.';

const CLI = 'dist/cli/main.js';
const PROFILES = { coding: 'workcell, coding', all: 'workcell, all' };
/** Those of the page that the goals are about; the others are ours. */
const EIGHT = 8;
const STARTS = 7;
const IMAGE_MS = 600_000;

export async function run(harness) {
  const repositories = makeRepositories();
  if (!repositories) return;
  try {
    await fixedCost(harness, repositories.root);
    const sums = {};
    for (const [profile, label] of Object.entries(PROFILES)) {
      const results = [];
      for (const task of TASKS) results.push(await walk(task, profile, repositories));
      sums[profile] = results;
      report(harness, label, results);
    }
    bars(harness, sums.coding);
  } finally {
    repositories.remove();
  }
}

async function fixedCost(harness, root) {
  const starters = {
    'workcell, coding': () => StdioServer.start([CLI, 'mcp', '--workspace', root]),
    'workcell, all': () => StdioServer.start([CLI, 'mcp', '--workspace', root, '--profile', 'all']),
    [SERVER_FILESYSTEM]: () => startServerFilesystem(root),
    [DESKTOP_COMMANDER]: () => startDesktopCommander(`${root}/../home`),
  };
  const starts = {};
  const cost = {};
  for (let round = 0; round < (harness.isQuick ? 1 : STARTS); round++) {
    for (const [label, start] of Object.entries(starters)) {
      const startedMs = performance.now();
      const server = await start();
      if (!server) continue;
      const tools = await server.tools();
      (starts[label] ??= []).push(performance.now() - startedMs);
      const seen = tools.map(({ name: tool, description: says, inputSchema }) => ({ tool, says, inputSchema }));
      cost[label] = { tools: tools.length, tokens: seen.reduce((sum, one) => sum + tokensOf(JSON.stringify(one)), 0) };
      await server.stop();
    }
  }
  const rows = Object.entries(cost).map(([label, { tools, tokens }]) => [
    label,
    tools,
    formatNumber(tokens),
    `${Math.round(median(starts[label]))} ms`,
  ]);
  harness.table({
    title: 'Before the first word',
    head: ['server', 'tools', 'tokens of definitions', 'start to list'],
    rows,
  });
  const { coding, peer } = { coding: cost['workcell, coding'], peer: starts[SERVER_FILESYSTEM] };
  harness.bar({
    id: 'B1',
    goal: 'at most 15 tools and 1,500 tokens of definitions',
    measured: `${coding.tools} and ${coding.tokens}`,
    met: coding.tools <= 15 && coding.tokens <= 1500,
  });
  if (!peer) return;
  const ratio = median(starts['workcell, coding']) / median(peer);
  harness.bar({
    id: 'B2',
    goal: 'start to list at most 1.5 × server-filesystem',
    measured: `${ratio.toFixed(2)} ×`,
    met: ratio <= 1.5,
  });
}

/** One task on a fresh copy, with a server of its own. */
async function walk(task, profile, repositories) {
  const root = repositories.fresh(task);
  const server = await StdioServer.start([CLI, 'mcp', '--workspace', root, '--profile', profile]);
  const result = { task: task.name, calls: 0, tokens: 0, failures: 0, isDone: false, isSilent: false, left: 0 };
  const replies = [];
  const call = async (tool, args) => {
    for (const untilMs = Date.now() + IMAGE_MS; ;) {
      const { isError = false, content } = await server.reply(tool, args);
      const text = content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
      // The first sandbox of a machine builds its image; that is no cost of the task.
      if (isError && text.startsWith('S102') && Date.now() < untilMs) continue;
      result.calls++;
      result.tokens += tokensOf(text);
      if (isError) result.failures++;
      replies.unshift(text);
      return text;
    }
  };
  try {
    const steps = task[profile];
    if (!steps) return { ...result, isPossible: false };
    await steps(call, root);
    result.isDone = task.isDone(root, replies);
    result.isSilent = !result.isDone && result.failures === 0;
  } catch (error) {
    console.log(`${task.name}, ${profile}: ${error.message}`);
  } finally {
    await server.stop();
  }
  return { ...result, left: processesIn(root) };
}

function report(harness, label, results) {
  const rows = results.map((one) => {
    if (one.isPossible === false) return [one.task, 'not scripted', '', '', '', ''];
    return [one.task, one.isDone ? 'yes' : 'no', one.calls, formatNumber(one.tokens), one.failures, one.left];
  });
  harness.table({
    title: label,
    head: ['task', 'done', 'calls', 'reply tokens', 'failed calls', 'processes left'],
    rows,
  });
}

function bars(harness, results) {
  const eight = results.slice(0, EIGHT);
  const sum = (field) => eight.reduce((total, one) => total + one[field], 0);
  const done = eight.filter(({ isDone }) => isDone).length;
  const goals = [
    ['B3', '8 of 8 tasks without configuration', `${done}`, done === EIGHT],
    ['B4', 'at most 40 calls on the eight', `${sum('calls')}`, sum('calls') <= 40],
    ['B5', 'at most 16,000 reply tokens on the eight', `${sum('tokens')}`, sum('tokens') <= 16_000],
    [
      'B6',
      'no silent wrong answer',
      `${results.filter(({ isSilent }) => isSilent).length}`,
      !results.some((one) => one.isSilent),
    ],
    [
      'B7',
      'no process left',
      `${results.reduce((total, { left }) => total + left, 0)}`,
      results.every(({ left }) => left === 0),
    ],
  ];
  for (const [id, goal, measured, met] of goals) harness.bar({ id, goal, measured, met });
}

function tokensOf(text) {
  return encode(text).length;
}

/** Processes whose command line or working directory names the copy. */
function processesIn(root) {
  const { stdout } = spawnSync('sh', ['-c', 'ls -l /proc/[0-9]*/cwd 2>/dev/null; ps -eo args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(root)).length;
}
