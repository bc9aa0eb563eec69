/** Runs each example as its page says, against a real engine. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { availableWorkers } from '#assembly';
import { toToolName } from '#protocol';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { hasProgram } from '../support/guide.ts';

vi.setConfig({ testTimeout: 60_000 });

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const RUN = {
  'agent-over-mcp': [['node', 'agent.mjs']],
  'http-shell': [
    ['sh', 'client.sh'],
    ['python3', 'client.py'],
  ],
  'custom-worker': [['node', 'check.mjs']],
  'iii-switch': [['node', 'program.mjs']],
};

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({
    'ws/': '',
    'bin/workcell': { content: `#!/bin/sh\nexec node '${ROOT}dist/cli/main.js' "$@"\n`, mode: 0o755 },
  });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.path('ws')]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

test.for(Object.entries(RUN).flatMap(([name, commands]) => commands.map((words) => [name, ...words])))(
  'library.P5 %s: %s %s ends well',
  async ([name, program, file], { skip }) => {
    skip(!hasProgram(program!), `${program} is not installed`);
    const env = { PATH: `${dir.path('bin')}:${process.env.PATH}`, III_URL: cell.url };
    const { code, stdout, stderr } = await runCli([`${ROOT}examples/${name}/${file}`], { bin: program!, env });
    expect({ code, problem: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, problem: '' });
    expect(stdout).toMatch(/^(ok|done): /m);
    expect(readdirSync(dir.path('ws'))).toEqual([]);
  },
);

test('every example is run', () => {
  const folders = readdirSync(`${ROOT}examples`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(RUN).toSorted());
});

test('the guide shows the worker of the example', () => {
  const worker = readFileSync(`${ROOT}examples/custom-worker/worker.mjs`, 'utf8');
  expect(readFileSync(`${ROOT}docs/guides/write-a-worker.md`, 'utf8')).toContain(`\`\`\`js\n${worker}\`\`\`\n`);
});

test('library.P5 the skill names tools that exist', () => {
  const skill = readFileSync(`${ROOT}skills/workcell/SKILL.md`, 'utf8');
  const named = [...skill.matchAll(/`((?:coder|shell|filesystem|sandbox)_[a-z_]*[a-z])`/g)].map(([, name]) => name!);
  const tools = availableWorkers.flatMap(({ functions }) => functions.map(({ id }) => toToolName(id)));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !tools.includes(name))).toEqual([]);
});
