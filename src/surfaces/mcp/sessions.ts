/**
 * Sessions of the 2025 revision: a client that shook hands keeps its server, so that a cancellation reaches the call it
 * is about.
 *
 * A session nobody uses ends by itself, and there are only so many. One in which a call runs is in use. When there are too
 * many, the client with the most loses one, so that no client's handshakes end the sessions of another.
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
  /** Where it was begun from. A header would be the client's to choose, and a new client each time. */
  readonly from: McpOrigin;
  usedAtMs: number;
  /** Whether anything came after the handshake. */
  wasUsed: boolean;
  /** Answers that are still being written. */
  openAnswers: number;
}

export interface SessionsOptions {
  maxBodyBytes: number;
  /** The number of a session that begins, among all of the server. */
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

  /** Whether it belongs to a session that lives. */
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
    // A session calls in the name of who began it; its id opens it to nobody else.
    if (session?.from.principal?.id !== from.principal?.id || !session) return Response.json(GONE, { status: 404 });
    session.usedAtMs = Date.now();
    session.wasUsed = true;
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

  /** Ends what nobody uses, and one of the client with the most when there are too many. */
  async #makeRoom(address: string): Promise<void> {
    const idleSinceMs = Date.now() - IDLE_MS;
    for (const [id, session] of this.#sessions) if (lastUseMs(session) < idleSinceMs) await this.#end(id, session);
    while (this.#sessions.size >= MAX_SESSIONS) await this.#end(...this.#leastWanted(address));
  }

  /** Of the client that would have the most: one that was never used, or else the longest unused. */
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
