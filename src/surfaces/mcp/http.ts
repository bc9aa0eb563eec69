/** MCP as streamable HTTP: the stateless revision, and the one before it with its sessions. */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';

import type { Bus, Log } from '#contract';
import { authInfoOf, principalIn, type McpOrigin } from './origin.ts';
import { mcpServers, type McpOptions } from './server.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';

export interface McpDoor {
  fetch(this: void, request: Request, from: McpOrigin): Promise<Response>;
  close(): Promise<void>;
}

type HttpOptions = McpOptions & { maxBodyBytes: number; log: Log };

/** Results are text, or structured content for a client that uses `/mcp?structured=true`. */
export function mcpHttp(bus: Bus, options: HttpOptions): McpDoor {
  let begun = 0;
  const numbered = { ...options, nextNumber: () => ++begun };
  const plain = openDoor(bus, numbered);
  const structured = openDoor(bus, { ...numbered, profile: { ...options.profile, isStructured: true } });
  return {
    fetch: (request, from) => {
      const isStructured = new URL(request.url).searchParams.get('structured') === 'true';
      return (isStructured ? structured : plain).fetch(request, from);
    },
    async close() {
      await plain.close();
      await structured.close();
    },
  };
}

function openDoor(bus: Bus, options: HttpOptions & SessionsOptions): McpDoor {
  const { maxBodyBytes, log } = options;
  const makeServer = mcpServers(bus, options);
  const sessions = new Sessions(makeServer, options);
  const stateless = createMcpHandler(({ authInfo }) => makeServer(principalIn(authInfo)), {
    legacy: 'reject',
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log.debug('an MCP request was refused', { why: error.message }),
  });
  return {
    async fetch(request, from) {
      // Detecting the revision takes parsing the body; a request with a session was classified before.
      const isLegacy =
        sessions.has(request) || (await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes }));
      return isLegacy ? sessions.fetch(request, from) : stateless.fetch(request, { authInfo: authInfoOf(from) });
    },
    async close() {
      await sessions.close();
      await stateless.close();
    },
  };
}
