/** The network of commands in the fence, over a real proxy and servers of this machine. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { run, serveWorker, shellCases, tempDir } from '#testing';
import { shell } from '../index.ts';
import { exec } from './exec.ts';

/** A server of this host. */
async function hostServer() {
  const server = createServer((_, reply) => reply.end('from outside\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

const egress = (root: string, allow: readonly string[]) =>
  shellCases(root, { fence: 'workspace', fence_network: 'egress', fence_egress: { allow } });

describe.skipIf(process.platform !== 'linux')('the network of the fence', () => {
  test('fence.F09 egress reaches listed hosts through the proxy, and no others', async () => {
    await using server = await hostServer();
    await using dir = await tempDir();
    const script = `curl -sS -m 20 http://host.internal:${server.port}/`;
    expect(await run(exec, { script }, egress(dir.root, [`host.internal:${server.port}`]))).toMatchObject({
      stdout: 'from outside\n',
    });
    expect(await run(exec, { script }, egress(dir.root, []))).toMatchObject({
      stdout: expect.stringContaining('fence_egress.allow does not list'),
      egress_refused: [{ host: `host.internal:${server.port}`, reason: expect.stringContaining('of shell') }],
    });
  });

  test('fence.F10 a server of one command is reached by the next, and by until.port', async () => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, shellCases(dir.root, { fence: 'workspace' }));
    const listens = 'require("node:http").createServer((_, r) => r.end("dev server")).listen(4173)';
    const { job_id } = await worker.call('shell::exec_bg', { command: 'node', args: ['-e', listens] });
    expect(await worker.call('shell::output', { job_id, wait_ms: 60_000, until: { port: 4173 } })).toMatchObject({
      matched: { by: 'port' },
    });
    const asks = 'fetch("http://127.0.0.1:4173").then((r) => r.text()).then(console.log)';
    expect(await worker.call('shell::exec', { command: 'node', args: ['-e', asks] })).toMatchObject({
      stdout: 'dev server\n',
    });
    const fromHost = fetch('http://127.0.0.1:4173').then(() => 'reached');
    await expect(fromHost).rejects.toThrow('fetch failed');
  });

  test('fence.F11 no command reaches the loopback address of this host; without a network not that of another command', async () => {
    await using server = await hostServer();
    await using dir = await tempDir();
    for (const fence_network of ['none', 'loopback', 'egress']) {
      const config = shellCases(dir.root, { fence: 'workspace', fence_network });
      const script = `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${server.port}/`;
      expect(await run(exec, { script }, config)).toMatchObject({ stdout: '', exit_code: 7 });
    }
    await using worker = await serveWorker(shell, shellCases(dir.root, { fence: 'workspace', fence_network: 'none' }));
    const listens = 'require("node:net").createServer().listen(4174, () => console.log("listens"))';
    const { job_id } = await worker.call('shell::exec_bg', { command: 'node', args: ['-e', listens] });
    await worker.call('shell::output', { job_id, wait_ms: 60_000, until: { pattern: 'listens' } });
    expect(await worker.call('shell::exec', { script: 'curl -sS -m 5 http://127.0.0.1:4174' })).toMatchObject({
      exit_code: 7,
    });
  });
});
