/** The official MCP client over both transports and both revisions of the protocol. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileURLToPath } from 'node:url';

export const BUILT = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

type Revision = 'legacy' | { pin: string };
export const revisions: Record<string, Revision> = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } };

/** A `workcell mcp` of its own, with these arguments, for a client that takes messages up to so many bytes. */
export function stdioTransport(
  { maxBufferSize = 64 * 2 ** 20, profile = 'all' as string | null },
  ...args: string[]
): Transport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [BUILT, 'mcp', ...args, ...(profile === null ? [] : ['--profile', profile])],
    env: { ...getDefaultEnvironment(), WORKCELL_PRESET: 'iii' },
    stderr: 'ignore',
    maxBufferSize,
  });
}

/** A running engine at `http://host:port`. */
export function httpTransport(
  address: string,
  query = '?profile=all',
  headers: Record<string, string> = {},
): Transport {
  return new StreamableHTTPClientTransport(new URL(`${address}/mcp${query}`), { requestInit: { headers } });
}

export async function openClient(
  transport: Transport,
  mode: Revision = 'legacy',
  name = 'test',
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** The text that a model reads of a result. */
export function textOf(result: { content: { type: string }[] }): string {
  return result.content.map((part) => (part.type === 'text' ? (part as { text?: string }).text : part.type)).join('\n');
}
