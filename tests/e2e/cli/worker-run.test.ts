/** workcell worker run: one worker in a process of its own, on an engine that others run. */
import { expect, test, vi } from 'vitest';

import { connect } from '#client';
import { startEngine } from '../../../src/testing/start-engine.ts';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { freePort } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const FUNCTIONS = { include_internal: false };

async function functionIds(url: string): Promise<string[]> {
  const bus = await connect(url);
  try {
    const { functions } = (await bus.call('engine::functions::list', FUNCTIONS)) as {
      functions: { function_id: string }[];
    };
    return functions.map(({ function_id }) => function_id);
  } finally {
    bus.close();
  }
}

test('worker start is worker run, and the row of the worker has its own version', async () => {
  await using dir = await tempDir({});
  await using engine = await startEngine();
  await using worker = await startCli(['worker', 'start', 'filesystem', '--workspace', dir.root, '--url', engine.url]);
  expect(worker.stdout).toContain('filesystem ready');
  const bus = await connect(engine.url);
  const row = async () => {
    const { workers } = (await bus.call('engine::workers::list', { search: 'filesystem' })) as { workers: object[] };
    return workers[0];
  };
  await expect.poll(row).toMatchObject({ name: 'filesystem', runtime: 'node', version: '2.0.0' });
  bus.close();
});

test('a worker serves an engine until it is stopped', async () => {
  await using dir = await tempDir({ 'a.txt': 'abc' });
  await using engine = await startEngine();
  await using worker = await startCli(['worker', 'run', 'coder', '--workspace', dir.root], {
    env: { III_URL: engine.url },
  });
  expect(worker.stdout).toMatch(new RegExp(`^coder ready on ${engine.url} with \\d+ functions\n$`));
  await expect.poll(() => functionIds(engine.url)).toContain('coder::read-file');
  const bus = await connect(engine.url);
  expect(await bus.call('coder::read-file', { path: 'a.txt' })).toMatchObject({ content: 'abc' });
  bus.close();

  expect(await worker.stop()).toBe(0);
  await expect.poll(() => functionIds(engine.url)).toEqual([]);
});

test('a worker outlives its engine and serves the next one', async () => {
  await using dir = await tempDir({ 'a.txt': 'abc' });
  const port = await freePort();
  const url = `ws://127.0.0.1:${port}`;
  const file = dir.path('cell.yaml');
  dir.add({
    'cell.yaml': 'workers: []\n',
    'work/b.txt': 'xyz',
    'worker.yaml': `workers: [{name: coder, config: {base_path: ${dir.path('work')}}}]\n`,
  });
  const engine = () => startCli(['start', '--port', String(port), '-c', file]);
  const first = await engine();
  await using worker = await startCli(['worker', 'run', 'coder', '-c', dir.path('worker.yaml'), '--url', url]);
  await expect.poll(() => functionIds(url)).toContain('coder::read-file');
  expect(await first.stop()).toBe(0);
  await worker.logged('lost the engine, dialling again');

  await using second = await engine();
  await worker.logged('the engine is back; registered again');
  await expect.poll(() => functionIds(second.url)).toContain('coder::read-file');
  const read = await runCli(['call', 'coder::read-file', 'path=b.txt', '--url', url]);
  expect(JSON.parse(read.stdout)).toMatchObject({ content: 'xyz' });

  // A worker can stop although its engine is gone.
  await second.stop('SIGKILL');
  expect(await worker.stop('SIGINT')).toBe(0);
});

test('an unknown worker, and one that cannot open, exit 2', async () => {
  await using dir = await tempDir({ 'cell.yaml': 'workers: [{name: coder, config: {base_path: ./none}}]\n' });
  const run = (...args: string[]) => runCli(['worker', 'run', ...args], { cwd: dir.root });
  const [unknown, unusable, unnamed] = await Promise.all([run('codr'), run('coder', '-c', 'cell.yaml'), run()]);
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('did you mean "coder"?') });
  expect(unusable).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('coder.base_path: ') });
  expect(unnamed).toEqual({ code: 2, stdout: '', stderr: 'Error: worker run needs <name>\n' });
});
