/**
 * Costs of scripted coding tasks for an agent: calls, tokens of the replies, and the tokens of the tool definitions that
 * precede every conversation.
 *
 * A script walks each task once, knowing the way: the numbers compare tools, not models.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

import { encode } from 'gpt-tokenizer/encoding/o200k_base';

import { median } from '../statistics.mjs';
import { DESKTOP_COMMANDER, SERVER_FILESYSTEM, startDesktopCommander, startServerFilesystem } from './files/peers.mjs';
import { StdioServer } from './files/stdio-client.mjs';
import { canInstall, makeRepositories } from './agent/repositories.mjs';
import { EIGHT, TASKS } from './agent/tasks.mjs';

export const name = 'agent';
export const description =
  'Scripted coding tasks through MCP servers as they are shipped: calls, tokens, failures, processes left.';

const CLI = 'dist/cli/main.js';
/** By the name of their way in a task. */
const SERVERS = {
  coding: { label: 'workcell, coding', start: (root) => StdioServer.start([CLI, 'mcp', '--workspace', root]) },
  all: {
    label: 'workcell, all',
    start: (root) => StdioServer.start([CLI, 'mcp', '--workspace', root, '--profile', 'all']),
  },
  filesystem: { label: SERVER_FILESYSTEM, start: startServerFilesystem },
  commander: { label: DESKTOP_COMMANDER, start: (root, home) => startDesktopCommander(home) },
};
const STARTS = 7;
const IMAGE_MS = 600_000;
/** For processes that get SIGTERM. */
const END_MS = 3000;

export async function run(harness) {
  const repositories = makeRepositories();
  if (!repositories) return;
  if (!canInstall) {
    console.log(
      '\npypi.org has no public address here, so no sandbox reaches it: task 5 installs its package from a file.',
    );
  }
  try {
    const cost = await fixedCost(harness, repositories.root);
    const sums = {};
    for (const [way, server] of Object.entries(SERVERS)) {
      if (!cost[server.label]) continue;
      sums[way] = [];
      for (const task of TASKS) sums[way].push(await walk(task, way, repositories));
      report(harness, server.label, sums[way]);
    }
    compare(harness, cost, sums);
    bars(harness, sums.coding);
  } finally {
    repositories.remove();
  }
}

async function fixedCost(harness, root) {
  const starts = {};
  const cost = {};
  for (let round = 0; round < (harness.isQuick ? 1 : STARTS); round++) {
    for (const { label, start } of Object.values(SERVERS)) {
      const startedMs = performance.now();
      const server = await start(root, `${root}/../home`);
      if (!server) continue;
      const tools = await server.tools();
      const listedMs = performance.now();
      await server.reply(...firstCall(tools, root));
      const { list, call } = (starts[label] ??= { list: [], call: [] });
      list.push(listedMs - startedMs);
      call.push(performance.now() - startedMs);
      const seen = tools.map(({ name: tool, description: says, inputSchema }) => ({ tool, says, inputSchema }));
      cost[label] = { tools: tools.length, tokens: seen.reduce((sum, one) => sum + tokensOf(JSON.stringify(one)), 0) };
      await server.stop();
    }
  }
  const rows = Object.entries(cost).map(([label, { tools, tokens }]) => [
    label,
    tools,
    counted(tokens),
    `${Math.round(median(starts[label].list))} ms`,
    `${Math.round(median(starts[label].call))} ms`,
  ]);
  harness.table({
    title: 'Before the first word',
    head: ['server', 'tools', 'tokens of definitions', 'start to list', 'start to first reply'],
    rows,
  });
  const { coding, peer } = { coding: cost[SERVERS.coding.label], peer: starts[SERVER_FILESYSTEM] };
  harness.bar({
    id: 'B1',
    goal: 'a list of at most 15, in 1,500 tokens',
    measured: `${coding.tools} and ${coding.tokens}`,
    met: coding.tools <= 15 && coding.tokens <= 1500,
  });
  if (peer) {
    const ratio = median(starts[SERVERS.coding.label].list) / median(peer.list);
    harness.bar({
      id: 'B2',
      goal: 'start to list at most 1.5 × server-filesystem',
      measured: `${ratio.toFixed(2)} ×`,
      met: ratio <= 1.5,
    });
  }
  return cost;
}

/** Lists the empty folder, in the words of the server. */
function firstCall(tools, path) {
  const known = ['list', 'list_directory', 'coder_list_folder'].find((one) =>
    tools.some(({ name: tool }) => tool === one),
  );
  return [known, known === 'list_directory' ? { path } : {}];
}

/** One task on a fresh copy, with a server of its own. */
async function walk(task, way, repositories) {
  const result = { task: task.name, calls: 0, tokens: 0, failures: 0, isDone: false, isSilent: false, left: 0 };
  const steps = task[way];
  if (!steps) return { ...result, isPossible: false };
  const root = repositories.fresh(task);
  const server = await SERVERS[way].start(root, `${root}-home`);
  const replies = [];
  const call = async (tool, args) => {
    for (const untilMs = Date.now() + IMAGE_MS; ;) {
      const { isError = false, content } = await server.reply(tool, args);
      const text = content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
      // The first sandbox of a machine builds its image; that is not a cost of the task.
      if (isError && text.startsWith('S102') && Date.now() < untilMs) continue;
      result.calls++;
      result.tokens += tokensOf(text);
      if (isError) result.failures++;
      replies.unshift(text);
      return text;
    }
  };
  try {
    await steps(call, root);
    result.isDone = task.isDone(root, replies);
    result.isSilent = !result.isDone && result.failures === 0;
  } catch (error) {
    console.log(`${task.name}, ${way}: ${error.message}`);
  } finally {
    await server.stop();
  }
  return { ...result, partly: task.partly?.[way], left: await endProcessesIn(root) };
}

function report(harness, label, results) {
  const rows = results.map((one) => {
    if (one.isPossible === false) return [one.task, 'cannot', '', '', '', ''];
    const done = one.isDone ? (one.partly ?? 'yes') : 'no';
    return [one.task, done, one.calls, counted(one.tokens), one.failures, one.left];
  });
  harness.table({
    title: label,
    head: ['task', 'done', 'calls', 'reply tokens', 'failed calls', 'processes left'],
    rows,
  });
}

/** A server that does part of the tasks has lower sums: the first column belongs to the others. */
function compare(harness, cost, sums) {
  const rows = Object.entries(sums).map(([way, results]) => {
    const { label } = SERVERS[way];
    const sum = (field) => results.reduce((total, one) => total + one[field], 0);
    const done = results.filter(({ isDone, partly }) => isDone && partly === undefined).length;
    const part = results.filter(({ isDone, partly }) => isDone && partly !== undefined).length;
    const numbers = ['calls', 'tokens', 'failures', 'left'].map((field) => counted(sum(field)));
    return [
      label,
      `${done} of ${results.length}${part > 0 ? `, ${part} partly` : ''}`,
      counted(cost[label].tokens),
      ...numbers,
    ];
  });
  harness.table({
    title: 'All tasks',
    head: ['server', 'done', 'definition tokens', 'calls', 'reply tokens', 'failed calls', 'processes left'],
    rows,
  });
}

function bars(harness, results) {
  const eight = results.slice(0, EIGHT.length);
  const sum = (field) => eight.reduce((total, one) => total + one[field], 0);
  const done = eight.filter(({ isDone }) => isDone).length;
  const goals = [
    ['B3', '8 of 8 tasks without configuration', `${done}`, done === EIGHT.length],
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

/** Counts are exact. */
function counted(number) {
  return number.toLocaleString('en');
}

function tokensOf(text) {
  return encode(text).length;
}

/** Counts the processes whose command line or working directory names the copy, and ends them. */
async function endProcessesIn(root) {
  for (const untilMs = Date.now() + END_MS; processesIn(root).length > 0 && Date.now() < untilMs;) await passed(50);
  const left = processesIn(root);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return left.length;
}

function processesIn(root) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return (
        readlinkSync(`/proc/${pid}/cwd`).includes(root) || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(root)
      );
    } catch {
      return false;
    }
  });
}
