/** Nodes as people start them: the built command line over a real NATS server. */
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { connect } from '#client';
import { silentLog } from '#contract';
import type { Change } from '#protocol';
import { runCli, startCli, type CliProcess } from '../../src/testing/cli.ts';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { isFull, rounds } from '../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../src/testing/temp-dir.ts';
import { openClient, stdioTransport, textOf } from '../e2e/support/mcp.ts';

const WATCHED = { NODE_OPTIONS: `--import=${fileURLToPath(new URL('../watch-modules.mjs', import.meta.url))}` };
const NATS_MODULE = 'loads @nats-io/';

test('cluster.P1 without --cluster no module of NATS is loaded, and no node is listed', async () => {
  await using dir = await tempDir({ 'a.txt': 'abc' });
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.root], { env: WATCHED });
  const { stdout } = await runCli(['nodes', '--url', cell.url]);
  expect(stdout).toBe('This engine is in no cluster: workcell start --cluster nats://HOST:4222\n');
  expect((await fetch(`${cell.http}/readyz`)).status).toBe(200);
  expect(await cell.stop()).toBe(0);
  expect(cell.stderr).not.toContain(NATS_MODULE);
  expect(cell.stdout).not.toMatch(/^ {2}cluster/m);
});

test('cluster.P2 with --cluster and no client of NATS it exits 2 and names the command to run', async () => {
  const env = { ...WATCHED, HIDE_PACKAGES: '@nats-io/' };
  const { code, stderr } = await runCli(['start', '--port', '0', '--cluster', 'nats://127.0.0.1:1'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('npm install @nats-io/transport-node@3.3.1')]);
});

const REFUSED: [string[], string][] = [
  [['--node', 'b'], '--node needs --cluster URL'],
  [['--cluster', 'nats://x', '--node', 'Not a label'], 'must be a DNS label'],
  [['--cluster', 'nats://x', '--cluster-nkey', '/nowhere/seed'], '--cluster-nkey: cannot read /nowhere/seed: ENOENT'],
];
test.each(REFUSED.slice(0, rounds(1, 3, 3)))('%j is refused with exit 2', async (words, message) => {
  const { code, stderr } = await runCli(['start', '--port', '0', ...words]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

const SEED = 'SUAM5JIYKDDJQCNQ5NZJ3LQ2ZTXKEHPYKLQSNBGAKGYXMQFPHDTXXXEJUA';
test('cluster.X33 neither config print nor an error shows the seed or a password of NATS', async () => {
  const cluster = { servers: ['nats://me:hidden@127.0.0.1:1'], node: 'a', nkey: '${SEED}', key: 'x.key' };
  await using dir = await tempDir({ 'a.yaml': JSON.stringify({ cluster, workers: [] }) });
  const run = (...words: string[]) => runCli([...words, '-c', dir.path('a.yaml')], { env: { SEED } });
  const [print, start] = await Promise.all([run('config', 'print', '--json'), run('start', '--port', '0')]);
  for (const { stdout, stderr } of [print, start]) expect(stdout + stderr).not.toMatch(/SUAM5|hidden/);
  const shown = { servers: ['nats://***@127.0.0.1:1'], nkey: '***', key: 'x.key' };
  expect(JSON.parse(print.stdout)).toMatchObject({ cluster: shown });
  expect(start).toMatchObject({ code: 2, stderr: expect.stringContaining('must not have a user or password') });
  expect(start.stderr).toContain('must be the path of a file, not what is in the file');
});

describe.skipIf(NO_NATS)('two nodes by the command line (needs nats-server)', () => {
  let nats: NatsServers;
  let dir: TempDir;
  let door: CliProcess;
  let host: CliProcess;

  beforeAll(async () => {
    [nats, dir] = await Promise.all([NatsServers.start(), tempDir({ 'a.txt': 'from the host', 'door/': '' })]);
    const cluster = {
      servers: nats.urls,
      name: 'prod',
      node: 'host-1',
      roles: ['host'],
      share: ['coder'],
      as: ['projectx'],
    };
    const workers = [{ name: 'coder' }];
    await writeFile(dir.path('door/door.yaml'), JSON.stringify({ workers: [{ name: 'shell' }] }));
    await writeFile(
      dir.path('door/host.yaml'),
      JSON.stringify({ cluster: { ...cluster, labels: { zone: 'a' } }, workers }),
    );
    const start = (...words: string[]) => startCli(['start', '--port', '0', ...words], { env: WATCHED });
    [door, host] = await Promise.all([
      start(
        '--cluster',
        nats.urls[0]!,
        '--cluster-name',
        'prod',
        '--node',
        'door-1',
        '--config',
        dir.path('door/door.yaml'),
      ),
      // The command line wins over the file.
      start('--config', dir.path('door/host.yaml'), '--workspace', dir.root, '--share', 'coder,shell::exec_bg'),
    ]);
    while ((await nodes()).length < 2) await sleep(100);
  });
  afterAll(async () => {
    await Promise.all([door, host].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  async function nodes(): Promise<string[]> {
    const { stdout } = await runCli(['nodes', '--json', '--url', door.url]);
    const reply = JSON.parse(stdout) as { nodes: { name: string; state: string }[] };
    return reply.nodes.map(({ name, state }) => `${name} ${state}`);
  }

  test('start says which cluster it joined', () => {
    expect(door.stdout).toMatch(/^ {2}cluster {4}prod as door-1 \(\d nodes?\)$/m);
    expect(door.stderr).toContain(NATS_MODULE);
  });

  test('cluster.P3 a function of a host is called through a door: command line, HTTP, by name and by alias', async () => {
    for (const namespace of ['host-1', 'projectx']) {
      const { stdout } = await runCli(['call', 'coder::read-file', '-n', namespace, 'path=a.txt', '--url', door.url]);
      expect(stdout).toContain('from the host');
    }
    const response = await fetch(`${door.http}/functions/coder/read-file?namespace=host-1`, {
      method: 'POST',
      body: JSON.stringify({ path: 'a.txt' }),
    });
    expect(await response.json()).toMatchObject({ content: 'from the host' });
    const refused = await fetch(`${door.http}/functions/shell/exec?namespace=host-1`, {
      method: 'POST',
      body: JSON.stringify({ command: 'id' }),
    });
    expect(refused.status).toBe(404);
  });

  test('cluster.P33 a door without the worker names the nodes that have it, and calls none of them by itself', async () => {
    const { code, stderr } = await runCli(['call', 'coder::read-file', 'path=a.txt', '--url', door.url]);
    const named = expect.stringContaining('It is registered in namespace(s): host-1.');
    expect([code, stderr]).toEqual([1, named]);
    const response = await fetch(`${door.http}/functions/coder/read-file`, {
      method: 'POST',
      body: '{"path":"a.txt"}',
    });
    expect([response.status, await response.text()]).toEqual([404, named]);
  });

  test.each(['host-1', 'projectx'].slice(0, rounds(1, 2, 2)))(
    'cluster.P34 an MCP client of namespace %s has the tools of that node',
    async (name) => {
      const words = ['--url', door.url, '--namespace', name];
      await using client = await openClient(stdioTransport({ profile: null }, ...words));
      const { tools } = await client.listTools();
      const names = tools.map((tool) => tool.name);
      expect(names).toContain('coder_read_file');
      // Of a worker that the node does not share, and of one that only the door has.
      expect(names.filter((tool) => !tool.startsWith('coder_'))).toEqual([]);
      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } });
      expect(textOf(read)).toContain('from the host');
    },
  );

  test.runIf(isFull)(
    'cluster.P34 a client at the node may name its own namespace, and so may the help of a call',
    async () => {
      await using client = await openClient(
        stdioTransport({ profile: null }, '--url', host.url, '--namespace', 'host-1'),
      );
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('coder_read_file');
      const help = await runCli(['call', 'coder::read-file', '-n', 'host-1', '--help', '--url', door.url]);
      expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('path')]);
    },
  );

  test('cluster.P35 what a call on another node changes in files is reported to its caller', async () => {
    await writeFile(dir.path('edited.txt'), 'one\n');
    const bus = await connect(door.url, { name: 'editor', log: silentLog });
    onTestFinished(() => bus.close());
    const changes: Change[] = [];
    const request = { files: [{ path: 'edited.txt', ops: [{ op: 'insert', at_line: 2, content: 'two' }] }] };
    const options = { namespace: 'host-1', onChanges: (list: readonly Change[]) => void changes.push(...list) };
    await bus.call('coder::update-file', request, options);
    expect(await readFile(dir.path('edited.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(changes).toMatchObject([{ path: 'edited.txt' }]);
  });

  test('/readyz answers 503 while NATS is away, and local calls continue', async () => {
    expect((await fetch(`${door.http}/readyz`)).status).toBe(200);
    await nats.kill(0);
    await expect.poll(async () => (await fetch(`${door.http}/readyz`)).status).toBe(503);
    const { code } = await runCli(['call', 'shell::list', '--url', door.url]);
    expect(code).toBe(0);
    await nats.restart(0);
    await expect.poll(async () => (await fetch(`${door.http}/readyz`)).status).toBe(200);
    await expect.poll(() => nodes()).toEqual(['door-1 up', 'host-1 up']);
  });
});
