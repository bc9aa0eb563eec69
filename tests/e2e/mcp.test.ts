/**
 * MCP as an agent's host uses it: the official client over both transports and both revisions of the protocol.
 */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connect as connectBus } from '#client';
import { silentLog } from '#contract';
import { startCli, type CliProcess } from '../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const BUILT = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const LONG = 'a line of text\n'.repeat(10_000);

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\nworld\n', 'long.txt': LONG, 'big.txt': 'é'.repeat(4_900_000) });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const transports = {
  stdio: (...options: string[]): Transport =>
    new StdioClientTransport({
      command: process.execPath,
      args: [BUILT, 'mcp', '--workspace', dir.root, ...options],
      stderr: 'ignore',
      maxBufferSize: 64 * 2 ** 20,
    }),
  http: (): Transport => new StreamableHTTPClientTransport(new URL(`${cell.http}/mcp`)),
};

type Revision = 'legacy' | { pin: string };
const revisions: Record<string, Revision> = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } };

async function open(transport: Transport, mode: Revision = 'legacy'): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const textOf = (result: { content: { type: string }[] }) =>
  result.content.map((part) => (part.type === 'text' ? (part as { text?: string }).text : part.type)).join('\n');

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  describe.each(Object.entries(revisions))('revision %s', (_, mode) => {
    test('lists every function in one order and calls one', async () => {
      await using client = await open(transports[transport](), mode);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
      expect(names).toContain('coder_read_file');
      expect(names.filter((name) => name.startsWith('engine'))).toEqual([]);

      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } });
      expect(read).toMatchObject({ structuredContent: { path: 'a.txt', content: 'hello\nworld\n', is_utf8: true } });
      expect(textOf(read)).toContain('\nhello\nworld\n');
    });

    test('tells a failure with its code, and an unknown tool with the nearest', async () => {
      await using client = await open(transports[transport](), mode);
      const failed = await client.callTool({ name: 'coder_read_file', arguments: { path: 'none' } });
      expect(failed).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'C211', message: 'none does not exist or is protected' } },
      });
      expect(textOf(failed)).toBe('C211: none does not exist or is protected');
      await expect(client.callTool({ name: 'coder_read_fil', arguments: {} })).rejects.toThrow('coder_read_file');
    });

    test('gives a long result once, and its text in ranges', async () => {
      await using client = await open(transports[transport](), mode);
      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'long.txt' } });
      expect((read.structuredContent as { content: string }).content).toBe(LONG);
      expect(textOf(read).length).toBeLessThan(40_000);

      const link = read.content.find((part) => part.type === 'resource_link') as { uri: string; size: number };
      let whole = '';
      for (let from = 0; from < link.size;) {
        const { contents } = await client.readResource({ uri: `${link.uri}?from=${from}` });
        const [part] = contents as unknown as { text: string; _meta: { to: number } }[];
        whole += part!.text;
        from = part!._meta.to;
      }
      expect(whole.endsWith(LONG)).toBe(true);
      await expect(client.readResource({ uri: 'workcell://results/none' })).rejects.toThrow('call the tool again');
    });

    test('survives 100 calls at once and a file of ten megabytes', async () => {
      await using client = await open(transports[transport](), mode);
      const calls = Array.from({ length: 100 }, () =>
        client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } }),
      );
      for (const result of await Promise.all(calls)) expect(result.isError).toBeFalsy();

      const big = await client.callTool({ name: 'coder_read_file', arguments: { path: 'big.txt' } });
      expect((big.structuredContent as { size: number }).size).toBe(9_800_000);
      expect(await client.listTools()).toBeTruthy();
    });
  });
});

test('every tool says what it is: names, schemas and hints', async () => {
  await using client = await open(transports.http());
  const { tools } = await client.listTools();
  const hints = ['destructiveHint', 'openWorldHint', 'readOnlyHint'];
  expect(
    tools.map(({ name, description = '', inputSchema, outputSchema, annotations = {} }) => ({
      name: /^[A-Za-z0-9_]{1,64}$/.test(name) ? 'fine' : name,
      description: /^[A-Z].{10,}/.test(description) ? 'fine' : name,
      types: [inputSchema.type, outputSchema?.type],
      hints: Object.keys(annotations).toSorted(),
    })),
  ).toEqual(tools.map(() => ({ name: 'fine', description: 'fine', types: ['object', 'object'], hints })));
});

test('offers only what is asked for, and with --read-only nothing that changes or runs anything', async () => {
  await using some = await open(transports.stdio('--tools', 'coder_tree,coder::search'));
  expect((await some.listTools()).tools.map(({ name }) => name)).toEqual(['coder_search', 'coder_tree']);

  await using reading = await open(transports.stdio('--read-only'));
  const { tools } = await reading.listTools();
  expect(tools.length).toBeGreaterThan(3);
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  await expect(reading.callTool({ name: 'coder_delete_file', arguments: { paths: ['a.txt'] } })).rejects.toThrow();
});

test.each(Object.entries(revisions))(
  'a worker in another process is a tool, which can be cancelled and tells that it goes on (%s)',
  async (_, mode) => {
    await using bus = await foreignWorker(cell.url);
    await using client = await open(transports.http(), mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('other_wait_long');

    const heard: unknown[] = [];
    const giveUp = new AbortController();
    const waiting = client.callTool(
      { name: 'other_wait_long', arguments: {} },
      { signal: giveUp.signal, onprogress: (progress) => heard.push(progress) },
    );
    await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0), 20_000);
    giveUp.abort();
    await expect(waiting).rejects.toThrow();
    await vi.waitFor(() => expect(bus.aborted).toBe(1), 20_000);
  },
);

test('a session that ended is told so', async () => {
  const answer = await fetch(`${cell.http}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Session-Id': 'none',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('initialize again')]);
});

async function foreignWorker(url: string) {
  const { defineErrors, defineWorker } = await import('#contract');
  const { z } = await import('zod');
  const seen = { aborted: 0 };
  const errors = defineErrors({ X1: { meaning: 'broken', http: 500, message: (_: object) => 'broken' } });
  const fail = () => errors.fail('X1', {});
  const worker = defineWorker({
    name: 'other',
    summary: 'Not one of ours.',
    config: z.object({}),
    errors,
    failures: { badInput: fail, internal: fail, deadline: fail },
    open: () => ({}),
  });
  const waitLong = worker.defineFunction({
    id: 'other::wait-long',
    summary: 'Wait until the caller gives up.',
    effect: 'read',
    request: z.object({}),
    response: z.object({}),
    errors: [],
    examples: [],
    handle: (_, __, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          seen.aborted++;
          reject(fail());
        });
      }),
  });
  const connection = await connectBus(url, { name: 'other', log: silentLog });
  connection.serve({ def: worker.withFunctions([waitLong]), context: {} });
  await connection.call('engine::workers::list');
  return Object.assign(seen, { [Symbol.asyncDispose]: async () => connection.close() });
}

test.each([
  ['Host', 'evil.example'],
  ['Origin', 'http://evil.example'],
])('refuses a foreign %s', async (header, value) => {
  const { request } = await import('node:http');
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
