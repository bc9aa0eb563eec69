/**
 * One MCP server over the bus: every function of the catalogue is a tool, whichever worker serves it.
 *
 * It is stateless, so the same factory serves stdio, a session and a single request.
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
  boundTo,
  throughDoor,
  type Bus,
  type CallOptions,
  type Principal,
} from '#contract';
import { Elicitation } from './elicitation.ts';
import { KeptResults, RESULT_TEMPLATE } from './kept-results.ts';
import { LazyTools, type EarlyList } from './lazy-tools.ts';
import type { Offer } from './offered-tools.ts';
import { toFileResult, toTextResult, toToolFailure, toToolResult } from './results.ts';
import { callerOf } from './session-caller.ts';
import type { ToolProfile } from './tools.ts';

export interface McpOptions {
  version: string;
  profile?: ToolProfile;
  early?: EarlyList | undefined;
  /** The change that all calls work in. */
  change?: string | undefined;
}

/** Minimum interval between two progress notifications of a call. */
const PROGRESS_MS = 200;
/** Functions have timeouts of their own; this only has to be longer. */
const CALL_MS = 24 * 3_600_000;

/** The largest file in one result; its text is truncated for the model, and the rest stored for later reads. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

/**
 * Clients that load tools on demand show a model only this and the names, so it names the tools and when to use them.
 */
const INSTRUCTIONS =
  'Workcell: files, commands and throw-away machines for one workspace. Use it for all work on the code.\n' +
  'read, search, list, outline: look around, several files in one call.\n' +
  'edit, write, move: change files, all or nothing; undo takes changes back, changes lists them.\n' +
  'run: any command line; long output is shortened and kept for `output`; servers continue as a job (`job`).\n' +
  'sandbox: run untrusted code, with packages.\n' +
  'more: every other function. A failed call says what to do next.';

const OFFERED = { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS };

/** A server that calls for a principal, within a session if there is one. */
export type MakeServer = (principal?: Principal, session?: number) => Server;

/** Makes servers that share the stored results. Calls wait for the bus. */
export function mcpServers(
  connecting: Bus | Promise<Bus>,
  { version, profile, early, change }: McpOptions,
): MakeServer {
  const kept = new KeptResults();
  const elicitation = new Elicitation();
  const lazyTools = new LazyTools(connecting, { profile, early });
  const metadata = { ...throughDoor('model'), ...(change !== undefined && boundTo(change)) };
  return (principal = makePrincipal('local', 'mcp'), session) => {
    const about = { name: 'workcell', title: 'Workcell', version };
    const server = new Server(about, { ...OFFERED, ...elicitation.options });
    const caller = callerOf(principal, { client: () => server.getClientVersion(), session });
    reportPresence(server, async (here) =>
      (await lazyTools.reached()).bus.call('engine::callers::present', { here }, { caller: caller() }),
    );
    server.setRequestHandler('tools/list', ({ params }) => lazyTools.page(params?.cursor));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { bus, offer } = await lazyTools.reach();
      const found = await offer.find(params.name);
      if ('problem' in found) throw invalid(found.problem);

      const request = params.arguments ?? {};
      const asking = elicitation.begin(server, context, params);
      let text: string | undefined;
      const calling = bus.call(found.id, request, {
        onText: (given) => void (text = given),
        caller: caller(offer.grants),
        signal: asking.signal,
        onQuestion: asking.onQuestion,
        namespace: offer.namespace,
        timeoutMs: CALL_MS,
        metadata,
        ...askedWith(context),
      });
      try {
        return await toResult(await calling, { id: found.id, request, text: () => text });
      } catch (error) {
        if (asking.required) return asking.required;
        if (!(error instanceof CallError)) throw error;
        if (error.code === 'function_not_found') await checkStillThere(offer, params.name, found.id);
        return toToolFailure(error, { kept, request });
      }
    });
    serveKept(server, kept);
    return server;
  };

  async function toResult(
    value: unknown,
    { id, request, text }: { id: string; request: unknown; text: () => string | undefined },
  ): Promise<CallToolResult> {
    const { bus, offer } = await lazyTools.reach();
    const isStructured = profile?.isStructured === true;
    const given = text();
    if (given !== undefined) return toTextResult(value, { text: given, kept, isStructured });

    const file = isStructured ? undefined : await takeContent(bus, value, { functionId: id, maxBytes: MAX_FILE_BYTES });
    if (file) return toFileResult(file, kept);

    // Only the catalogue entry defines whether `success: false` in the value is a failure.
    const entry = saysFailed(value) || hasFailedItems(value) ? await offer.entryOf(id) : undefined;
    const isFailure = entry?.fails_in_result === true && saysFailed(value);
    return toToolResult(value, { kept, isFailure, itemList: entry?.fails_in_items, isStructured, request });
  }
}

/** Throws if the function was removed or replaced; the failed lookup may also be of a function that it called. */
async function checkStillThere(offer: Offer, name: string, functionId: string): Promise<void> {
  const now = await offer.findAnew(name);
  if ('problem' in now) throw invalid(now.problem);
  if (now.id !== functionId) throw invalid(`${name} is another function now; list the tools again`);
}

/** Reports a session to the lists of callers, from its handshake to its end. Other engines lack the function. */
function reportPresence(server: Server, report: (here: boolean) => Promise<unknown>): void {
  const reportHere = (here: boolean) => void report(here).catch(() => {});
  server.oninitialized = () => {
    reportHere(true);
    server.onclose = () => reportHere(false);
  };
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

/** Options that the request sets beside the call. */
function askedWith(context: ServerContext): Pick<CallOptions, 'traceparent' | 'baggage' | 'onEvent'> {
  return { ...traceOf(context), ...reportingProgress(context) };
}

/** The trace that the call belongs to: of the call itself, else of the HTTP request that brought it. */
function traceOf({ mcpReq, http }: ServerContext): Pick<CallOptions, 'traceparent' | 'baggage'> {
  const valueOf = (key: string) => {
    const given = mcpReq._meta?.[key] ?? http?.req?.headers.get(key);
    return typeof given === 'string' ? given : undefined;
  };
  return { traceparent: valueOf('traceparent'), baggage: valueOf('baggage') };
}

/** Sends events of the call as progress lines to a client that asked; `progress` is the seconds since its start. */
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

/** Whether any list in the value has an item with `success: false`. */
function hasFailedItems(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((list) => Array.isArray(list) && list.some(saysFailed));
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}
