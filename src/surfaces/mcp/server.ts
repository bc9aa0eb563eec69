/**
 * One MCP server over the bus: every function of the catalogue is a tool, whoever serves it.
 *
 * It keeps no state of its own, so the same factory answers a process on standard input, a session and a single request.
 */
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server';

import { CallError, didYouMean, readCatalogue, type Bus } from '#contract';
import { KeptResults, RESULT_TEMPLATE } from './kept-results.ts';
import { toToolFailure, toToolResult } from './results.ts';
import { toTools, type NamesTaken, type ToolProfile } from './tools.ts';

export interface McpOptions {
  version: string;
  profile?: ToolProfile;
}

/** How often a long call says that it goes on. */
const PROGRESS_MS = 2_000;
/** Functions end their calls by limits of their own; this only has to be longer. */
const CALL_MS = 24 * 3_600_000;

const INSTRUCTIONS =
  'Tools work on one fenced workspace: paths outside it are refused. Prefer the file tools over running cat, grep or sed. ' +
  'A failed call names a code; when it carries a fix, merge it into the request and call again.';

/** Makes servers that share what is kept for later reading. */
export function mcpServers(bus: Bus, { version, profile }: McpOptions): () => Server {
  const kept = new KeptResults();
  const names: NamesTaken = new Map();
  // Who is there before anyone else can connect has its names from now on.
  const first = readCatalogue(bus).then((catalogue) => toTools(catalogue, profile, names));
  first.catch(() => {});
  return () => {
    const server = new Server(
      { name: 'workcell', title: 'Workcell', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', async () => ({
      tools: [...(await offered()).values()].map(({ definition }) => definition),
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tools = await offered();
      const tool = tools.get(params.name);
      if (!tool) throw invalid(`no tool ${params.name}${didYouMean(params.name, [...tools.keys()])}`);

      const { id, namespace } = tool.entry;
      const { signal } = context.mcpReq;
      const calling = bus.call(id, params.arguments ?? {}, { signal, namespace, timeoutMs: CALL_MS });
      try {
        return toToolResult(await tellingProgress(calling, context), tool.entry, kept);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return toToolFailure(error);
      }
    });
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
    return server;
  };

  async function offered() {
    await first;
    return toTools(await readCatalogue(bus), profile, names);
  }
}

/** A client that asked for progress hears that the call goes on. */
async function tellingProgress<T>(calling: Promise<T>, { mcpReq }: ServerContext): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return calling;

  const startMs = performance.now();
  const timer = setInterval(() => {
    const secs = Math.round((performance.now() - startMs) / 1000);
    const params = { progressToken, progress: secs, message: `running for ${secs} s` };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => clearInterval(timer));
  }, PROGRESS_MS);
  try {
    return await calling;
  } finally {
    clearInterval(timer);
  }
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}
