/**
 * A worker that returns the principal of its caller, and makes nested calls in the caller's name; and an MCP client to
 * call it.
 */
import { setTimeout as passed } from 'node:timers/promises';

import { z } from 'zod';

import { defineErrors, defineWorker } from '#contract';

const errors = defineErrors({
  T1: { meaning: 'It went wrong.', http: 500, message: (d: { problem: string }) => d.problem },
});
const refusal = (problem: unknown) => errors.fail('T1', { problem: String(problem) });
const worker = defineWorker({
  name: 'tester',
  summary: 'For tests.',
  config: z.object({}),
  errors,
  failures: { badInput: refusal, internal: refusal, deadline: refusal },
  translate: (error) =>
    error instanceof Error ? refusal(`${(error as { code?: string }).code}: ${error.message}`) : undefined,
  open: () => ({}),
});
const shape = { summary: 'For tests.', response: z.unknown(), errors: ['T1'] as const, examples: [] };
const Asked = z.looseObject({ id: z.string(), payload: z.unknown().optional(), namespace: z.string().optional() });

export const tester = worker.withFunctions([
  worker.defineFunction({
    ...shape,
    id: 'tester::who',
    effect: 'read',
    permissions: [],
    request: z.looseObject({}),
    response: z.looseObject({}),
    handle: (_, __, { call: { principal, via, metadata, traceparent, baggage } }) => ({
      principal: principal && {
        id: principal.id,
        kind: principal.kind,
        label: principal.label,
        client: principal.client,
      },
      via: via ?? null,
      metadata,
      traceparent,
      baggage,
    }),
  }),
  worker.defineFunction({
    ...shape,
    id: 'tester::ask',
    effect: 'read',
    permissions: [],
    request: Asked,
    handle: ({ id, payload, namespace }, _, { bus }) => bus.call(id, payload ?? {}, { namespace }),
  }),
  worker.defineFunction({
    ...shape,
    id: 'tester::change',
    effect: 'write',
    permissions: [],
    request: z.looseObject({}),
    handle: () => 'changed',
  }),
  worker.defineFunction({
    ...shape,
    id: 'tester::count',
    effect: 'read',
    permissions: [],
    request: z.looseObject({ to: z.int(), everyMs: z.int().default(0), fails: z.boolean().default(false) }),
    response: z.object({ counted: z.int() }),
    events: z.object({ type: z.literal('count'), message: z.string(), at: z.int() }),
    async handle({ to, everyMs, fails }, _, { emit, signal }) {
      for (let at = 1; at <= to; at++) {
        if (everyMs > 0) await passed(everyMs, undefined, { signal });
        emit?.({ type: 'count', message: `at ${at}`, at });
      }
      if (fails) throw refusal('it counted, and failed');
      return { counted: to };
    },
  }),
]);

/** The result of `tester::who`. */
export interface WhoReply {
  principal?: { id: string; kind: string; label: string; client?: { name: string; version: string } };
  via: string | null;
  metadata?: unknown;
  traceparent?: string;
  baggage?: string;
}

interface McpClient {
  readonly session: string;
  /** The result as JSON, the text of a failure, or the protocol error. */
  call(tool: string, payload?: object, more?: { meta?: object; headers?: Record<string, string> }): Promise<string>;
}

/** Connects to the server at a ws:// or http:// URL, under this program's name. */
export async function mcpClient(
  url: string,
  clientInfo: { name: string; version: string },
  headers: Record<string, string> = {},
): Promise<McpClient> {
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(`${url.replace(/^ws/, 'http')}/mcp?structured=true&profile=all`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
        ...more,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const greeting = await post({ method: 'initialize', params });
  await greeting.text();
  const session = greeting.headers.get('mcp-session-id') ?? '';
  return {
    session,
    async call(name, payload = {}, { meta, headers: own } = {}) {
      const asked = { name, arguments: payload, ...(meta && { _meta: meta }) };
      const response = await post({ method: 'tools/call', params: asked }, { 'mcp-session-id': session, ...own });
      const text = await response.text();
      const reply = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text) as {
        result?: { content: { text: string }[]; structuredContent?: unknown };
        error?: { message: string };
      };
      const { content: [said] = [], structuredContent } = reply.result ?? {};
      if (structuredContent !== undefined) return JSON.stringify(structuredContent);
      return said?.text ?? `${response.status} ${reply.error?.message}`;
    },
  };
}
