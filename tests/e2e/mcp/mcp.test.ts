/**
 * MCP as an agent's host uses it: the official client over both transports and both revisions of the protocol.
 */
import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { rounds } from '../../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { httpTransport, openClient, revisions, stdioTransport, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LONG = 'a line of text\n'.repeat(10_000);
const BIG = 'é'.repeat(4_900_000);
const DOT = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\nworld\n', 'long.txt': LONG, 'big.txt': BIG, 'dot.png': DOT });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const transports = {
  stdio: () => stdioTransport({}, '--workspace', dir.root),
  http: () => httpTransport(cell.http),
};

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  describe.each(Object.entries(revisions).slice(-rounds(1, 9, 9)))('revision %s', (_, mode) => {
    let client: Awaited<ReturnType<typeof openClient>>;
    beforeAll(async () => {
      client = await openClient(transports[transport](), mode);
    });
    afterAll(() => client?.[Symbol.asyncDispose]());

    test('mcp.P1 lists every function in one order and calls one', async () => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
      expect(names).toContain('coder_read_file');
      expect(names.filter((name) => name.startsWith('engine'))).toEqual([]);
      expect((await client.listTools()).tools).toEqual(tools);

      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } });
      expect(Object.keys(read)).not.toContain('structuredContent');
      expect(textOf(read)).toMatch(/^path: a\.txt\n.*\ncontent:\nhello\nworld\n$/s);
    });

    test('mcp.P1 returns a failure with its code, message and fix, and an unknown tool with the nearest', async () => {
      const failed = await client.callTool({ name: 'coder_read_file', arguments: { path: 'none' } });
      expect(failed.isError).toBe(true);
      expect(textOf(failed)).toBe('C211: none does not exist or is protected');

      // Its calls never fail on the bus; the answer says so.
      const stale = { path: dir.path('a.txt'), content: 'x', expected_version: `sha256:${'0'.repeat(64)}` };
      const refused = await client.callTool({ name: 'filesystem_write', arguments: stale });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(/^F221: .* is at version .*"expected_version":"sha256:[\da-f]{64}"/s);
      await expect(client.callTool({ name: 'coder_read_fil', arguments: {} })).rejects.toThrow('coder_read_file');
    });

    test('mcp.P1 gives a long result once, and its text in ranges', async () => {
      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'long.txt' } });
      expect(textOf(read).length).toBeLessThan(40_000);

      const link = read.content.find((part) => part.type === 'resource_link') as { uri: string; size: number };
      const read1 = async (range: string) => {
        const { contents } = await client.readResource({ uri: `${link.uri}${range}` });
        return (contents as unknown as { text: string; _meta: { from: number; to: number; total: number } }[])[0]!;
      };
      let whole = '';
      for (let from = 0; from < link.size;) {
        const part = await read1(`?from=${from}`);
        whole += part.text;
        from = part._meta.to;
      }
      expect(whole.endsWith(LONG)).toBe(true);
      expect(await read1('?from=100&to=140')).toMatchObject({
        text: whole.slice(100, 140),
        _meta: { from: 100, to: 140, total: link.size },
      });
      await expect(client.readResource({ uri: 'workcell://results/none' })).rejects.toThrow('call the tool again');
    });

    test('survives 100 calls at once and a file of ten megabytes', async () => {
      const calls = Array.from({ length: 100 }, () =>
        client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } }),
      );
      for (const result of await Promise.all(calls)) expect(result.isError).toBeFalsy();

      const big = await client.callTool({ name: 'coder_read_file', arguments: { path: 'big.txt' } });
      expect(textOf(big)).toContain('size: 9800000');
      expect(await client.listTools()).toBeTruthy();
    });
  });
});

const post = (body: object, headers: Record<string, string> = {}, query = '') =>
  fetch(`${cell.http}/mcp${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });

test.each(['?profile=all', '?profile=all&structured=true'])(
  'a file of ten megabytes is a short message at /mcp%s',
  async (query) => {
    const params = { name: 'coder_read_file', arguments: { path: 'big.txt' } };
    const answer = await post({ method: 'tools/call', params }, {}, query);
    const text = await answer.text();
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    expect(text).toContain('read on at workcell://results/');
  },
);

test('a client that stops at ten megabytes a message gets one', async () => {
  const transport = stdioTransport({ maxBufferSize: 10 * 2 ** 20 }, '--workspace', dir.root, '--structured');
  await using client = await openClient(transport);
  for (const name of ['coder_read_file', 'shell_fs_read']) {
    const path = name === 'coder_read_file' ? 'big.txt' : dir.path('big.txt');
    expect(textOf(await client.callTool({ name, arguments: { path } }))).toMatch(/\S/);
  }
  expect((await client.listTools()).tools.length).toBeGreaterThan(40);
});

test('mcp.P8 a file that the bus sends through a channel is in the answer, and an image is one', async () => {
  await using client = await openClient(httpTransport(cell.http));
  const read = (path: string) => client.callTool({ name: 'shell_fs_read', arguments: { path: dir.path(path) } });
  const text = textOf(await read('a.txt'));
  expect(text).toMatch(/^size: 12\nmode: .*\nmtime: \d+\ncontent:\nhello\nworld\n$/);
  for (const result of [
    await read('dot.png'),
    await client.callTool({ name: 'coder_read_file', arguments: { path: 'dot.png' } }),
    await client.callTool({ name: 'filesystem_read', arguments: { path: 'dot.png' } }),
  ]) {
    expect(result.content.at(-1)).toEqual({ type: 'image', data: DOT.toString('base64'), mimeType: 'image/png' });
  }
  // Each read released its channel, so that more can follow than may be open at once.
  for (let i = 0; i < 40; i++) expect((await read('a.txt')).isError).toBeFalsy();
});

test('a request to an ended session gets an error', async () => {
  const answer = await post({ method: 'tools/list' }, { 'Mcp-Session-Id': 'none' });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('initialize again')]);
});

test.each([
  ['Host', 'evil.example'],
  ['Origin', 'http://evil.example'],
])('mcp.P2 refuses a foreign %s', async (header, value) => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(`${cell.http}/mcp`, { method: 'POST', headers: { [header]: value } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end('{}');
  });
  expect(status).toBe(403);
});

test('with a token only clients that have it are admitted', async () => {
  await using closed = await startCli(['start', '--port', '0', '--workspace', dir.root, '--token', 'secret']);
  const ask = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const accepted = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers };
    return (await fetch(`${closed.http}/mcp`, { method: 'POST', headers: accepted, body })).status;
  };
  expect([
    await ask({}),
    await ask({ Authorization: 'Bearer wrong' }),
    await ask({ Authorization: 'Bearer secret' }),
  ]).toEqual([401, 401, 200]);
});

test('a missing workspace is reported as such', async () => {
  expect(await runCli(['mcp', '--workspace', 'none'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^Error: \[workspace_not_a_directory\] --workspace none is not a directory/),
  });
});
