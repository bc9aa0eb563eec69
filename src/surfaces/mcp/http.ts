/** MCP as streamable HTTP: the stateless revision, and the one before it with its sessions. */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';

import type { Bus, Log } from '#contract';
import { authInfoOf, principalIn, type McpOrigin } from './origin.ts';
import { parseProfiles, UnknownProfile } from './profiles.ts';
import { mcpServers, type McpOptions } from './server.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';

export interface McpDoor {
  fetch(this: void, request: Request, from: McpOrigin): Promise<Response>;
  close(): Promise<void>;
}

type HttpOptions = McpOptions & { maxBodyBytes: number; log: Log };

/**
 * A client chooses by the address: `/mcp?profile=all` for other tools than the default, `/mcp?structured=true` for
 * structured content instead of text. Each choice has its own sessions.
 */
export function mcpHttp(bus: Bus, options: HttpOptions): McpDoor {
  let begun = 0;
  const numbered = { ...options, nextNumber: () => ++begun };
  const doors = new Map<string, McpDoor>();
  const doorFor = ({ searchParams }: URL): McpDoor => {
    const isStructured = searchParams.get('structured') === 'true';
    const text = searchParams.get('profile');
    const profiles = text === null ? undefined : [...new Set(parseProfiles(text))].sort();
    const key = JSON.stringify([isStructured, profiles]);
    const known = doors.get(key);
    if (known) return known;
    const made = openDoor(bus, { ...numbered, profile: { ...options.profile, isStructured, profiles } });
    doors.set(key, made);
    return made;
  };
  return {
    async fetch(request, from) {
      try {
        return await doorFor(new URL(request.url)).fetch(request, from);
      } catch (error) {
        if (!(error instanceof UnknownProfile)) throw error;
        const refused = { jsonrpc: '2.0', id: null, error: { code: -32_602, message: error.message } };
        return Response.json(refused, { status: 400 });
      }
    },
    async close() {
      for (const door of doors.values()) await door.close();
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
