/** The tools of a coding agent through the published clients: text as the result, images as images, failures as text. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { httpTransport, openClient, revisions } from '../../e2e/support/mcp.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface AnyClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}

const SDKS = {
  '1.23.0': () =>
    Promise.all([import('mcp-sdk-1-23/client/index.js'), import('mcp-sdk-1-23/client/streamableHttp.js')]),
  '1.29.0': () =>
    Promise.all([import('mcp-sdk-1-29/client/index.js'), import('mcp-sdk-1-29/client/streamableHttp.js')]),
  '1.32.2': () =>
    Promise.all([import('mcp-sdk-1-32/client/index.js'), import('mcp-sdk-1-32/client/streamableHttp.js')]),
};

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'one\n', 'dot.png': PNG });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

async function check(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  expect(await call('read', { paths: ['a.txt', 'dot.png'] })).toMatchObject({
    content: [
      { type: 'text', text: 'a.txt\n1\tone\n\ndot.png: image' },
      { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
    ],
  });
  expect(await call('edit', { edits: [{ path: 'a.txt', old: 'two', new: '' }] })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(/^A220: nothing was changed\na\.txt: /) }],
  });
}

describe('the v1 SDK', () => {
  test.each(Object.keys(SDKS) as (keyof typeof SDKS)[])('agent.P2 %s', async (version) => {
    const [{ Client }, { StreamableHTTPClientTransport }] = await SDKS[version]();
    type V1 = AnyClient & { connect(transport: unknown): Promise<void>; close(): Promise<void> };
    const client = new (Client as unknown as new (info: object) => V1)({ name: 'test', version });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${cell.http}/mcp`)));
    try {
      await check(client);
    } finally {
      await client.close();
    }
  });
});

test.each(Object.entries(revisions))('agent.P2 the v2 client, revision %s', async (_, mode) => {
  await using client = await openClient(httpTransport(cell.http, ''), mode);
  await check(client);
});
