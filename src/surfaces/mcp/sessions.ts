/**
 * Sessions of the 2025 revision: a client that shook hands keeps its server, so that a cancellation reaches the call it
 * is about.
 *
 * A session nobody uses ends by itself, and there are only so many. One in which a call runs is in use.
 */
import { randomUUID } from 'node:crypto';

import {
  legacyStatelessFallback,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from '@modelcontextprotocol/server';

const SESSION_HEADER = 'mcp-session-id';
const MAX_SESSIONS = 256;
const IDLE_MS = 30 * 60_000;

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAtMs: number;
  /** Answers that are still being written. */
  openAnswers: number;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #makeServer: () => Server;
  readonly #maxRequestBodySize: number;
  readonly #withoutSession: (request: Request) => Promise<Response>;

  constructor(makeServer: () => Server, { maxBodyBytes }: { maxBodyBytes: number }) {
    this.#makeServer = makeServer;
    this.#maxRequestBodySize = maxBodyBytes;
    this.#withoutSession = legacyStatelessFallback(makeServer, undefined, { maxRequestBodySize: maxBodyBytes });
  }

  /** Whether it belongs to a session that lives. */
  has(request: Request): boolean {
    return this.#sessions.has(request.headers.get(SESSION_HEADER) ?? '');
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return (await isHandshake(request)) ? this.#begin(request) : this.#withoutSession(request);

    const session = this.#sessions.get(id);
    if (!session) return Response.json(GONE, { status: 404 });
    session.usedAtMs = Date.now();
    // The stream of a GET is open for as long as its client likes, and no call.
    if (request.method !== 'POST') return session.transport.handleRequest(request);

    session.openAnswers++;
    const response = await session.transport.handleRequest(request);
    return whenWritten(response, () => {
      session.openAnswers--;
      session.usedAtMs = Date.now();
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()));
  }

  async #begin(request: Request): Promise<Response> {
    await this.#makeRoom();
    const server = this.#makeServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#maxRequestBodySize,
      onsessioninitialized: (id) =>
        void this.#sessions.set(id, { server, transport, usedAtMs: Date.now(), openAnswers: 0 }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  /** Ends what nobody uses, and the longest unused when there are too many. */
  async #makeRoom(): Promise<void> {
    const byUse = [...this.#sessions].toSorted(
      ([, a], [, b]) => lastUseMs(a) - lastUseMs(b) || a.usedAtMs - b.usedAtMs,
    );
    const excess = byUse.length + 1 - MAX_SESSIONS;
    const over = byUse.filter(([, session], at) => at < excess || lastUseMs(session) + IDLE_MS < Date.now());
    for (const [id, { server }] of over) {
      this.#sessions.delete(id);
      await server.close();
    }
  }
}

function lastUseMs({ openAnswers, usedAtMs }: Session): number {
  return openAnswers > 0 ? Date.now() : usedAtMs;
}

/** The same answer; `then` is called when its last byte was taken, or its reader left. */
function whenWritten(response: Response, then: () => void): Response {
  if (!response.body) {
    then();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void response.body.pipeTo(writable).then(then, then);
  return new Response(readable, response);
}

const GONE = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_001, message: 'no such session any more; initialize again' },
};

async function isHandshake(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
}
