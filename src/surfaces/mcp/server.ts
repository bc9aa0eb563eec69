/**
 * One MCP server over the bus: every function of the catalogue is a tool, whoever serves it.
 *
 * It keeps no state of its own, so the same factory answers a process on standard input, a session and a single request.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

import {
  CallError,
  eventText,
  makePrincipal,
  saysFailed,
  takeContent,
  throughDoor,
  withClient,
  type Bus,
  type CallOptions,
  type Principal,
} from '#contract';
import { KeptResults, RESULT_TEMPLATE } from './kept-results.ts';
import { Offer } from './offered-tools.ts';
import { toFileResult, toToolFailure, toToolResult } from './results.ts';
import { toolPage } from './tool-page.ts';
import type { ToolProfile } from './tools.ts';

export interface McpOptions {
  version: string;
  profile?: ToolProfile;
}

/** The least time between two progress notifications of a call. */
const PROGRESS_MS = 200;
/** Functions end their calls by limits of their own; this only has to be longer. */
const CALL_MS = 24 * 3_600_000;

/** The longest file that comes in one result; its text is cut for the model and kept for reading on. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

const INSTRUCTIONS =
  'Tools work on one fenced workspace: paths outside it are refused. Prefer the file tools over running cat, grep or sed. ' +
  'A failed call names a code; when it carries a fix, that is the next request: call with it.';

/** A server that calls in the name of a principal, for a session where there is one. */
export type MakeServer = (principal?: Principal, session?: number) => Server;

/** Makes servers that share what is kept for later reading. */
export function mcpServers(bus: Bus, { version, profile }: McpOptions): MakeServer {
  const kept = new KeptResults();
  const offer = new Offer(bus, profile);
  return (principal = makePrincipal('local', 'mcp'), session) => {
    const server = new Server(
      { name: 'workcell', title: 'Workcell', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', async ({ params }) =>
      toolPage([...(await offer.tools()).values()], params?.cursor),
    );
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const found = await offer.find(params.name);
      if ('problem' in found) throw invalid(found.problem);

      const { signal } = context.mcpReq;
      const request = params.arguments ?? {};
      const calling = bus.call(found.id, request, {
        caller: withClient({ ...principal, grants: offer.grants }, server.getClientVersion(), session),
        signal,
        namespace: offer.namespace,
        timeoutMs: CALL_MS,
        metadata: throughDoor('model'),
        ...reportingProgress(context),
      });
      try {
        return await toResult(await calling, { id: found.id, request });
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        if (error.code === 'function_not_found') await checkStillThere(params.name, found.id);
        return toToolFailure(error, { kept, request });
      }
    });
    serveKept(server, kept);
    return server;
  };

  async function toResult(value: unknown, { id, request }: { id: string; request: unknown }): Promise<CallToolResult> {
    const isStructured = profile?.isStructured === true;
    const file = isStructured ? undefined : await takeContent(bus, value, { functionId: id, maxBytes: MAX_FILE_BYTES });
    if (file) return toFileResult(file, kept);

    // Only its entry says what a `success: false` in the value means.
    const entry = saysFailed(value) || hasFailedItems(value) ? await offer.entryOf(id) : undefined;
    const isFailure = entry?.fails_in_result === true && saysFailed(value);
    return toToolResult(value, { kept, isFailure, itemList: entry?.fails_in_items, isStructured, request });
  }

  /** A function that has left is no tool any more; one that did not find another still is. */
  async function checkStillThere(name: string, functionId: string): Promise<void> {
    const now = await offer.findAnew(name);
    if ('problem' in now) throw invalid(now.problem);
    if (now.id !== functionId) throw invalid(`${name} is another function now; list the tools again`);
  }
}

/** Results too long for one text, to be read in ranges. */
function serveKept(server: Server, kept: KeptResults): void {
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: RESULT_TEMPLATE,
        name: 'result',
        title: 'A long result, in ranges of bytes',
        mimeType: 'text/plain',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const part = kept.read(uri);
    if (!part) throw invalid(`nothing is kept at ${uri}; call the tool again`);
    const { text, from, to, total } = part;
    return { contents: [{ uri, mimeType: 'text/plain', text, _meta: { from, to, total } }] };
  });
}

/** A client that asked for progress gets the events of the call as lines; `progress` is the seconds since its start. */
function reportingProgress({ mcpReq }: ServerContext): Pick<CallOptions, 'onEvent'> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};

  const startMs = performance.now();
  let reportedMs = -Infinity;
  return {
    onEvent(event) {
      const message = eventText(event);
      const nowMs = performance.now();
      if (message === undefined || nowMs - reportedMs < PROGRESS_MS) return;
      reportedMs = nowMs;
      const params = { progressToken, progress: Math.round(nowMs - startMs) / 1000, message };
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}

/** Whether any list in it has an item with `success: false`. */
function hasFailedItems(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((list) => Array.isArray(list) && list.some(saysFailed));
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}
