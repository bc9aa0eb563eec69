/**
 * Sessions of the 2025 revision: a client keeps its server after the handshake, so that a cancellation reaches its
 * call.
 *
 * An unused session expires, and their number is bounded. A session with a running call is in use. At the limit, the
 * client with the most sessions loses one, so that no client's handshakes end the sessions of another.
 */
import { randomUUID } from 'node:crypto';

import {
  legacyStatelessFallback,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from '@modelcontextprotocol/server';

import { authInfoOf, principalIn, type McpOrigin } from './origin.ts';
import type { MakeServer } from './server.ts';

const SESSION_HEADER = 'mcp-session-id';
const MAX_SESSIONS = 256;
const IDLE_MS = 30 * 60_000;

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Address of the handshake. Not a header, which a client could choose anew each time. */
  readonly from: McpOrigin;
  usedAtMs: number;
  /** Whether a request came after the handshake. */
  wasUsed: boolean;
  /** Responses still being written. */
  openAnswers: number;
}

export interface SessionsOptions {
  maxBodyBytes: number;
  /** The number of a new session, unique in the server. */
  nextNumber(this: void): number;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #makeServer: MakeServer;
  readonly #nextNumber: () => number;
  readonly #maxRequestBodySize: number;
  readonly #withoutSession: ReturnType<typeof legacyStatelessFallback>;

  constructor(makeServer: MakeServer, { maxBodyBytes, nextNumber }: SessionsOptions) {
    this.#makeServer = makeServer;
    this.#nextNumber = nextNumber;
    this.#maxRequestBodySize = maxBodyBytes;
    const maxRequestBodySize = maxBodyBytes;
    this.#withoutSession = legacyStatelessFallback(({ authInfo }) => makeServer(principalIn(authInfo)), undefined, {
      maxRequestBodySize,
    });
  }

  /** Whether it belongs to a live session. */
  has(request: Request): boolean {
    return this.#sessions.has(request.headers.get(SESSION_HEADER) ?? '');
  }

  async fetch(request: Request, from: McpOrigin): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) {
      return (await isHandshake(request))
        ? this.#begin(request, from)
        : this.#withoutSession(request, { authInfo: authInfoOf(from) });
    }

    const session = this.#sessions.get(id);
    // A session uses the principal that started it; other callers cannot use its id.
    if (session?.from.principal?.id !== from.principal?.id || !session) return Response.json(GONE, { status: 404 });
    session.usedAtMs = Date.now();
    session.wasUsed = true;
    // A GET stream is not a call, and stays open for as long as the client wants.
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

  async #begin(request: Request, from: McpOrigin): Promise<Response> {
    await this.#makeRoom(from.address);
    const server = this.#makeServer(from.principal, this.#nextNumber());
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#maxRequestBodySize,
      onsessioninitialized: (id) =>
        void this.#sessions.set(id, {
          server,
          transport,
          from,
          usedAtMs: Date.now(),
          wasUsed: false,
          openAnswers: 0,
        }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  /** Ends unused sessions, and one of the client with the most at the limit. */
  async #makeRoom(address: string): Promise<void> {
    const idleSinceMs = Date.now() - IDLE_MS;
    for (const [id, session] of this.#sessions) if (lastUseMs(session) < idleSinceMs) await this.#end(id, session);
    while (this.#sessions.size >= MAX_SESSIONS) await this.#end(...this.#leastWanted(address));
  }

  /** Chooses a session of the client that would have the most: a never used one, or else the longest unused. */
  #leastWanted(newcomer: string): [string, Session] {
    const counts = new Map([[newcomer, 1]]);
    for (const { from } of this.#sessions.values()) counts.set(from.address, (counts.get(from.address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const [worst] = [...this.#sessions]
      .filter(([, { from }]) => counts.get(from.address) === most)
      .toSorted(
        ([, a], [, b]) =>
          Number(a.wasUsed) - Number(b.wasUsed) || lastUseMs(a) - lastUseMs(b) || a.usedAtMs - b.usedAtMs,
      );
    return worst!;
  }

  async #end(id: string, { server }: Session): Promise<void> {
    this.#sessions.delete(id);
    await server.close();
  }
}

function lastUseMs({ openAnswers, usedAtMs }: Session): number {
  return openAnswers > 0 ? Date.now() : usedAtMs;
}

/** The same response; calls `then` after its last byte, or when its reader disconnected. */
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
