import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { connect } from './client.ts';
import { createWorkcell } from './create-workcell.ts';

test('library.P1 runs every worker over the workspace, without a port', async () => {
  await using dir = await tempDir({ 'a.txt': 'one\ntwo\n' });
  await using cell = await createWorkcell({ workspace: dir.root });
  expect(cell.url).toBeUndefined();

  const { content, size } = await cell.call('coder::read-file', { path: 'a.txt' });
  expect({ content, size }).toEqual({ content: 'one\ntwo\n', size: 8 });

  const { stdout, exit_code } = await cell.call('shell::exec', { command: 'cat', args: ['a.txt'] });
  expect({ stdout, exit_code }).toEqual({ stdout: 'one\ntwo\n', exit_code: 0 });

  const workers = new Set((await cell.functions()).map(({ worker }) => worker));
  expect([...workers].toSorted()).toEqual(['agent', 'change', 'coder', 'filesystem', 'iii-sandbox', 'shell']);
});

test('runs only the workers asked for, with their configuration', async () => {
  await using dir = await tempDir({ 'a.txt': 'one\n' });
  const workers = [{ name: 'coder', config: { max_read_bytes: 3 } }] as const;
  await using cell = await createWorkcell({ workspace: dir.root, workers });

  await expect(cell.call('coder::read-file', { path: 'a.txt' })).rejects.toMatchObject({ code: 'C213' });
  await expect(cell.call('shell::list')).rejects.toMatchObject({ code: 'function_not_found' });
});

test('library.P1 with a port, others reach what the program reaches, until close', async () => {
  await using dir = await tempDir({ 'a.txt': 'one\n' });
  const cell = await createWorkcell({ workspace: dir.root, port: 0, token: 'secret' });
  const url = cell.url!;
  await expect(connect(url)).rejects.toMatchObject({ code: 'connection_failed' });

  const other = await connect(url, { token: 'secret' });
  expect((await other.call('coder::read-file', { path: 'a.txt' })).content).toBe('one\n');
  other.close();

  await cell.close();
  await expect(fetch(url.replace(/^ws/, 'http'))).rejects.toThrow();
  await expect(cell.call('coder::tree')).rejects.toMatchObject({ code: 'connection_closed' });
});

test('library.P1 what runs when it closes is stopped', async () => {
  await using dir = await tempDir();
  const cell = await createWorkcell({
    workspace: dir.root,
    workers: [{ name: 'shell', config: { allowlist: ['sleep'] } }],
  });
  const longUnlikeAnyOther = `1000.${process.pid}`;
  const processes = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  await cell.call('shell::exec_bg', { command: 'sleep', args: [longUnlikeAnyOther] });
  expect(processes()).toContain(longUnlikeAnyOther);

  await cell.close();
  expect(processes()).not.toContain(longUnlikeAnyOther);
});

test.each([
  ['a workspace that is not a directory', { workspace: '/nowhere' }, 'workspace: /nowhere is not a directory'],
  ['a worker listed twice', { workers: [{ name: 'coder' }, { name: 'coder' }] }, 'workers: coder is listed twice'],
  [
    'an open address without a token',
    { port: 0, host: '0.0.0.0' },
    'host: 0.0.0.0 is reachable from other machines, so a token is needed',
  ],
] as const)('refuses %s', async (_, options, message) => {
  await using dir = await tempDir();
  await expect(createWorkcell({ workspace: dir.root, ...options })).rejects.toThrow(message);
});

test('refuses a key that its worker does not know, naming the nearest', async () => {
  await using dir = await tempDir();
  const config = { max_raed_bytes: 3 } as Record<string, unknown>;
  const creating = createWorkcell({ workspace: dir.root, workers: [{ name: 'coder', config }] });
  await expect(creating).rejects.toThrow(/max_raed_bytes.*max_read_bytes/);
});

test.each([
  [{ workspce: '.' }, 'createWorkcell: unknown key "workspce" (did you mean "workspace"?); known keys: workspace, '],
  [{ workspace: '.', prot: 0 }, 'createWorkcell: unknown key "prot" (did you mean "port"?)'],
  [{}, 'createWorkcell: '],
  [undefined, 'createWorkcell: '],
  [
    { workspace: '.', workers: [{ nam: 'coder' }] },
    'createWorkcell.workers.0: unknown key "nam" (did you mean "name"?)',
  ],
])('cli.C13 %j from JavaScript is refused with the key', async (options, message) => {
  const creating = createWorkcell(options as unknown as { workspace: string });
  await expect(creating).rejects.toMatchObject({ name: 'ConfigError', message: expect.stringContaining(message) });
});
