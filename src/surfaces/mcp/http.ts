/** MCP as streamable HTTP: the stateless revision, and the one before it with its sessions. */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';

import { CHANGE_HEADER, type Bus, type Log } from '#contract';
import { authInfoOf, principalIn, type McpOrigin } from './origin.ts';
import { parseProfiles, UnknownProfile } from './profiles.ts';
import { mcpServers, type McpOptions } from './server.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';

export interface McpDoor {
  fetch(this: void, request: Request, from: McpOrigin): Promise<Response>;
  close(): Promise<void>;
}

/** Most choices of clients that are cached. */
const MOST_DOORS = 128;

type HttpOptions = McpOptions & { maxBodyBytes: number; log: Log };

/**
 * A client selects options by the address: `/mcp?profile=all` for other tools than the default, `/mcp?structured=true`
 * for structured content instead of text; and by the header `Workcell-Change` the change that all its calls work in.
 * Each choice has its own sessions.
 */
export function mcpHttp(bus: Bus, options: HttpOptions): McpDoor {
  let begun = 0;
  const numbered = { ...options, nextNumber: () => ++begun };
  const doors = new Map<string, McpDoor>();
  const doorFor = ({ searchParams }: URL, change: string | undefined): McpDoor => {
    const isStructured = searchParams.get('structured') === 'true';
    const text = searchParams.get('profile');
    const profiles = text === null ? undefined : [...new Set(parseProfiles(text))].sort();
    const key = JSON.stringify([isStructured, profiles, change]);
    const known = doors.get(key);
    if (known) {
      doors.delete(key);
      doors.set(key, known);
      return known;
    }
    const made = openDoor(bus, { ...numbered, change, profile: { ...options.profile, isStructured, profiles } });
    doors.set(key, made);
    void forgetOldest(doors);
    return made;
  };
  return {
    async fetch(request, from) {
      try {
        return await doorFor(new URL(request.url), changeIn(request)).fetch(request, from);
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

/** A client may send any name, so the map is limited: the sessions of the least recently used entry end. */
async function forgetOldest(doors: Map<string, McpDoor>): Promise<void> {
  const [oldest] = doors;
  if (doors.size <= MOST_DOORS || !oldest) return;
  doors.delete(oldest[0]);
  await oldest[1].close();
}

/** A session is bound to a change by the header of all its requests. */
function changeIn(request: Request): string | undefined {
  return request.headers.get(CHANGE_HEADER) || undefined;
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
      // Detecting the revision requires parsing the body, so a request with a session keeps the revision of its
      // handshake.
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
