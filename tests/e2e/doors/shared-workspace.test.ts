/** One workspace for all workers of a server: one list of protected files from many sources. */
import { describe, expect, test, vi } from 'vitest';

import { connect } from '#client';
import { createWorkcell } from '#library';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const WORKERS = 'workers: [{name: coder}, {name: shell}, {name: filesystem}]\n';

/** Which workers read a file of the workspace. */
async function readersOf(call: (id: string, payload: object) => Promise<unknown>, root: string, name: string) {
  const path = `${root}/${name}`;
  const replies = {
    coder: call('coder::read-file', { path: name }),
    shell: call('shell::fs::grep', { path, pattern: 'text' }),
    filesystem: call('filesystem::read', { path }),
  };
  const reported = await Promise.all(
    Object.entries(replies).map(async ([worker, reply]) => [worker, await textIn(reply)]),
  );
  return reported.filter(([, text]) => text!.includes('the text')).map(([worker]) => worker);
}

async function textIn(reply: Promise<unknown>): Promise<string> {
  return JSON.stringify(await reply.catch(String));
}

describe.concurrent('workcell start', () => {
  test('http.P9 says what is protected, and takes another list from file, command line, environment and app', async () => {
    await using dir = await tempDir({
      'ws/.env': 'the text\n',
      'ws/mine': 'the text\n',
      'plain.yaml': WORKERS,
      'cell.yaml': `${WORKERS}protect: [mine]\n`,
      'app.yaml': 'modules: [{module: filesystem}]\nprotect: []\n',
      'bad.yaml': `${WORKERS}protect: ["{a"]\n`,
    });
    const root = dir.path('ws');
    const readers = async (args: string[], env: Record<string, string> = {}) => {
      await using cell = await startCli(['start', '--port', '0', '--workspace', root, ...args], { env });
      const bus = await connect(cell.url);
      const call = (id: string, payload: object) => bus.call(id, payload);
      const shown = /^ {2}protect {4}(.*)$/m.exec(cell.stdout)?.[1];
      const reported = [await readersOf(call, root, '.env'), await readersOf(call, root, 'mine'), shown];
      bus.close();
      return reported;
    };
    const all = ['coder', 'shell', 'filesystem'];
    const file = ['-c', dir.path('cell.yaml')];
    const shipped = '**/.env **/.env.* !**/.env.{example,sample,template} **/*.pem **/*.key **/secrets/**';
    expect(
      await Promise.all([
        readers(['-c', dir.path('plain.yaml')]),
        readers(file),
        readers([...file, '--protect', '.env', '--protect', '*.x']),
        readers([...file, '--protect', '']),
        readers(file, { WORKCELL_PROTECT: 'mine:.env' }),
        readers([...file, '--app', dir.path('app.yaml')]),
      ]),
    ).toEqual([
      [[], all, shipped],
      [all, [], 'mine'],
      [[], all, '.env *.x'],
      [all, all, 'nothing'],
      [[], [], 'mine .env'],
      [all, ['filesystem'], 'mine; nothing'],
    ]);
    expect(await runCli(['start', '--port', '0', '-c', dir.path('bad.yaml')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('protect: bad glob "{a"') as string,
    });
    const printed = await runCli(['config', 'print', ...file, '--json']);
    expect(JSON.parse(printed.stdout)).toMatchObject({ protect: ['mine'] });
  });
});

test('http.P9 a changed list takes effect without a restart', async () => {
  await using dir = await tempDir({ 'ws/.env': 'the text\n', 'cell.yaml': WORKERS });
  const root = dir.path('ws');
  await using cell = await startCli(['start', '--port', '0', '-c', dir.path('cell.yaml'), '--workspace', root]);
  const bus = await connect(cell.url);
  const readers = () => readersOf((id, payload) => bus.call(id, payload), root, '.env');
  expect(await readers()).toEqual([]);
  dir.add({ 'cell.yaml': `${WORKERS}protect: []\n` });
  await cell.logged('applied the changed configuration');
  expect(await readers()).toEqual(['coder', 'shell', 'filesystem']);
  const changed = async () => JSON.stringify(await bus.call('coder::checkpoints', { diffs: true }));
  await bus.call('coder::create-file', { files: [{ path: '.env', content: 'secret', overwrite: true }] });
  expect(await changed()).toContain('+secret');
  const from = cell.stderr.length;
  dir.add({ 'cell.yaml': WORKERS });
  await cell.logged('applied the changed configuration', from);
  expect(await readers()).toEqual([]);
  // The record is older than the protection.
  expect(await changed()).not.toContain('secret');
  bus.close();
});

test('http.P9 a program says it as an option', async () => {
  await using dir = await tempDir({ '.env': 'the text\n', mine: 'the text\n' });
  const workers = [{ name: 'coder' as const }, { name: 'shell' as const }, { name: 'filesystem' as const }];
  for (const [protect, expected] of [
    [undefined, 0],
    [['mine'], 3],
    [[], 3],
  ] as const) {
    await using cell = await createWorkcell({ workspace: dir.root, workers, protect });
    const readers = await readersOf((id, payload) => cell.call(id, payload), dir.root, '.env');
    expect(readers).toHaveLength(expected);
  }
});
