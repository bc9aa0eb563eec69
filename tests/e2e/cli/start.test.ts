/** workcell start as a process: it prints one ready line, signals end it, mistakes start nothing. */
import { Agent } from 'node:http';

import { describe, expect, test, vi } from 'vitest';

import { connect, socketDialer } from '#client';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { rounds } from '../../../src/testing/rounds.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { freePort, HALF_A_REQUEST, isListening, openSocket, UPGRADE, web } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe.concurrent('start', () => {
  test('http.P3 prints one line with the word ready and the address, once everything can be called', async () => {
    await using dir = await tempDir({ 'a.txt': 'hello\n' });
    await using cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
    const bus = await connect(cell.url);
    expect(await bus.call('coder::read-file', { path: 'a.txt' })).toMatchObject({ content: 'hello\n' });
    bus.close();

    expect(await cell.stop()).toBe(0);
    expect(cell.stdout.split('\n').filter((line) => /ready/.test(line))).toEqual([
      `ready on ws://127.0.0.1:${cell.port}`,
    ]);
    expect(cell.stdout).toMatch(/^workcell \d+\.\d+\.\d+\n/);
    expect(cell.stdout).toContain(`  workspace  ${dir.root}\n`);
    expect(cell.stderr).toMatch(/^\{"time":"[^"]+","level":"info","message":"stopping","signal":"SIGTERM"\}\n$/);
  });

  test('works over the current directory and logs nothing when asked to', async () => {
    await using dir = await tempDir({ 'b.txt': '' });
    await using cell = await startCli(['start', '--port', '0', '--log-level', 'silent'], { cwd: dir.root });
    const listed = await web(`${cell.http}/functions/coder/list-folder`, { method: 'POST' });
    expect(listed.body).toMatchObject({ entries: [{ name: 'b.txt' }] });
    expect([await cell.stop('SIGINT'), cell.stderr]).toEqual([0, '']);
  });

  test('outlives readers of what it prints', async () => {
    await using dir = await tempDir({ 'cell.yaml': 'workers: [{name: coder}]\n' });
    await using cell = await startCli(['start', '--port', '0', '-c', 'cell.yaml'], { cwd: dir.root });
    cell.child.stdout!.destroy();
    cell.child.stderr!.destroy();
    // A refusal is logged, and the log is no longer read.
    const link = await socketDialer(cell.url).dial();
    const refused = new Promise((resolve) => {
      link.attach({ frame: (frame) => frame.type === 'registrationrejected' && resolve(frame), closed() {} });
    });
    link.send({ type: 'registerfunction', id: 'engine::functions::list' });
    await refused;
    link.close();
    expect(await web(`${cell.http}/healthz`)).toMatchObject({ status: 200 });
    expect(await cell.stop()).toBe(0);
  });
});

// SIGINT ends a server above too.
describe.concurrent.each((['SIGTERM', 'SIGINT'] as const).slice(0, rounds(1, 2, 2)))('%s', (signal) => {
  test('http.P4 ends it at once with 0, whatever is connected', async () => {
    await using cell = await startCli(['start', '--port', '0']);
    const bus = await connect(cell.url);
    const agent = new Agent({ keepAlive: true });
    await web(`${cell.http}/healthz`, { agent });

    expect(await cell.stop(signal)).toBe(0);
    expect(await isListening(cell.port)).toBe(false);
    bus.close();
    agent.destroy();
  });
});

test('a client that neither reads nor answers does not keep it from its end', async () => {
  await using cell = await startCli(['start', '--port', '0']);
  const sockets = await Promise.all([openSocket(cell.port, UPGRADE), openSocket(cell.port, HALF_A_REQUEST)]);
  expect(await cell.stop()).toBe(0);
  for (const socket of sockets) socket.destroy();
});

const MISTAKES: [string, string[], string][] = [
  [
    'an address beyond loopback without a token',
    ['--host', '0.0.0.0'],
    '--host 0.0.0.0 is reachable from other machines, so a token is needed: give --token or set WORKCELL_TOKEN',
  ],
  [
    'an address that is not ours',
    ['--host', '192.0.2.1', '--token', 't', '--insecure'],
    'cannot listen there: listen EADDRNOTAVAIL',
  ],
  [
    'a workspace that is not there',
    ['--workspace', 'none'],
    '[workspace_not_a_directory] --workspace none is not a directory',
  ],
  ['an unknown option', ['--prot', '1'], 'start has no option --prot (did you mean "--port"?)'],
];

describe.concurrent('a mistake starts nothing and exits 2:', () => {
  test.each(MISTAKES.slice(0, rounds(2, 4, 4)))('%s', async (_, args, message) => {
    const port = await freePort();
    const { code, stdout, stderr } = await runCli(['start', '--port', String(port), ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.startsWith(`Error: ${message}`)).toBe(true);
    expect(await isListening(port)).toBe(false);
  });

  test('a port in use, which keeps its owner', async () => {
    await using first = await startCli(['start', '--port', '0']);
    const second = await runCli(['start', '--port', String(first.port)]);
    expect(second).toEqual({
      code: 2,
      stdout: '',
      stderr: `Error: port ${first.port} is in use: is a Workcell running already? --port picks another\n`,
    });
    expect(await isListening(first.port)).toBe(true);
  });
});
