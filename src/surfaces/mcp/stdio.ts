/** MCP on stdin and stdout, until the client closes its end. */
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import type { Bus, Log, Principal } from '#contract';
import { mcpServers, type McpOptions } from './server.ts';

/** `ended` resolves when the client disconnects. */
export function serveMcpOnStdio(
  bus: Promise<Bus>,
  options: McpOptions & { principal: Principal; maxMessageBytes: number; log: Log },
): { ended: Promise<void>; close(): Promise<void> } {
  const { principal, maxMessageBytes, log } = options;
  const makeServer = mcpServers(bus, options);
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: maxMessageBytes });
  const ended = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  const handle = serveStdio(() => makeServer(principal), {
    transport,
    onerror: (error) => log.warn('an MCP message was refused', { why: error.message }),
  });
  return { ended, close: () => handle.close() };
}
