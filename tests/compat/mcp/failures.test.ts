/**
 * Every failure reaches the model through the published clients, of this year and of earlier ones.
 *
 * Clients on the v1 SDK validate a result against the tool's output schema, failures too, and throw their own error
 * instead; so each client lists the tools first, as an agent's host does.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { httpTransport, openClient, revisions, textOf } from '../../e2e/support/mcp.ts';
import { failingCalls, lostFailures, type FailingCall, type Seen } from './failing-calls.ts';
import { callFromPython, installPythonClient } from './python-client.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

/** Their client and their transport. */
const SDKS = {
  '1.23.0': () =>
    Promise.all([import('mcp-sdk-1-23/client/index.js'), import('mcp-sdk-1-23/client/streamableHttp.js')]),
  '1.29.0': () =>
    Promise.all([import('mcp-sdk-1-29/client/index.js'), import('mcp-sdk-1-29/client/streamableHttp.js')]),
  '1.32.2': () =>
    Promise.all([import('mcp-sdk-1-32/client/index.js'), import('mcp-sdk-1-32/client/streamableHttp.js')]),
};

/** As much of a v1 client as is used here; the three versions agree on it. */
interface V1Client {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(call: { name: string; arguments: object }): Promise<{ isError?: boolean; content: { type: string }[] }>;
  close(): Promise<void>;
}

let dir: TempDir;
let cell: CliProcess;
let calls: FailingCall[];
let whyNoPython: string | undefined;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\nworld\n', 'twice.txt': 'x\nx\n', 'full/entry': '' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
  calls = failingCalls(dir.root);
  whyNoPython = await installPythonClient();
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

async function openV1(version: keyof typeof SDKS, query = '?profile=all'): Promise<V1Client & AsyncDisposable> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await SDKS[version]();
  const client = new (Client as unknown as new (info: object) => V1Client)({ name: 'test', version });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${cell.http}/mcp${query}`)));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function callAll(client: Pick<V1Client, 'listTools' | 'callTool'>): Promise<Seen[]> {
  await client.listTools();
  const seen: Seen[] = [];
  for (const { tool, args } of calls) {
    const { isError = false, content } = await client.callTool({ name: tool, arguments: args });
    seen.push({ isError, text: textOf({ content }) });
  }
  return seen;
}

test('there are more than 20 different failures', () => {
  expect(new Set(calls.map(({ tool, begins, says }) => `${tool} ${begins} ${says}`)).size).toBe(calls.length);
  expect(calls.length).toBeGreaterThanOrEqual(20);
});

describe.each(Object.keys(SDKS) as (keyof typeof SDKS)[])('the v1 SDK %s', (sdk) => {
  test.each(['?profile=all', '?profile=all&structured=true'])('mcp.P7 shows every failure at /mcp%s', async (query) => {
    await using client = await openV1(sdk, query);
    expect(lostFailures(calls, await callAll(client))).toEqual([]);
  });

  test('takes structured content by its schema when it asks for that, and text when it does not', async () => {
    for (const [query, isStructured] of [
      ['?profile=all', false],
      ['?profile=all&structured=true', true],
    ] as const) {
      await using client = await openV1(sdk, query);
      const { tools } = await client.listTools();
      expect(tools.every(({ outputSchema }) => (outputSchema !== undefined) === isStructured)).toBe(true);
      const read = await client.callTool({ name: 'coder_read_file', arguments: { path: 'a.txt' } });
      expect([textOf(read).includes('\nhello\nworld\n'), 'structuredContent' in read]).toEqual([true, isStructured]);
    }
  });
});

test.each(Object.entries(revisions))('mcp.P7 the v2 client, revision %s, shows every failure', async (_, mode) => {
  await using client = await openClient(httpTransport(cell.http), mode);
  expect(lostFailures(calls, await callAll(client as unknown as V1Client))).toEqual([]);
});

test('mcp.P7 the Python client shows every failure', async ({ skip }) => {
  if (whyNoPython !== undefined) skip(`no Python client: ${whyNoPython}`);
  expect(lostFailures(calls, await callFromPython(`${cell.http}/mcp?profile=all`, calls))).toEqual([]);
});
