/**
 * One port for everything: WebSocket upgrades go to the engine, plain requests to the handler from the
 * assembler.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { makePrincipal, silentLog, type Log, type Principal } from '#contract';
import { Admission, httpPrincipal, isLoopback, type AdmissionRules, type Identity, type Refusal } from './admission.ts';
import type { Engine } from './engine.ts';
import { Upgrades } from './upgrades.ts';

export interface ServerOptions extends AdmissionRules {
  port: number;
  /** Certificate chain and private key in PEM; without them it speaks HTTP. */
  tls?: { cert: Buffer; key: Buffer } | undefined;
  /** Answers admitted requests that are not upgrades, each with its principal. */
  onRequest?: OnRequest;
  log?: Log;
}

export type OnRequest = (request: IncomingMessage, response: ServerResponse, principal: Principal) => void;

export interface RunningServer {
  readonly port: number;
  /** URL for clients, e.g. `ws://127.0.0.1:49134`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Principal of a reader of public pages, which may call nothing. */
const STRANGER = makePrincipal('local', 'http', { only: [] });
const GOODBYE_MS = 2_000;

export async function startServer(engine: Engine, options: ServerOptions): Promise<RunningServer> {
  const admission = new Admission(options);
  const upgrades = new Upgrades(engine, admission, options.log ?? silentLog);
  const onRequest = admitted(engine, admission, options.onRequest);
  const servers = await listen(options, () => {
    const settings = { headersTimeout: engine.limits.handshakeMs, connectionsCheckingInterval: 1_000 };
    const server = options.tls
      ? createTlsServer({ ...settings, ...options.tls, minVersion: 'TLSv1.2' }, onRequest)
      : createServer(settings, onRequest);
    return server.on('upgrade', (request, stream, head) => upgrades.take(request, stream, head));
  });
  const { port } = servers[0]!.address() as AddressInfo;
  const shownHost = options.host.includes(':') ? `[${options.host}]` : options.host;
  const secure = options.tls ? 's' : '';
  engine.httpUrl = `http${secure}://${shownHost}:${port}`;

  return {
    port,
    url: `ws${secure}://${shownHost}:${port}`,
    async close() {
      engine.close();
      upgrades.close();
      const stragglers = setTimeout(() => {
        upgrades.end();
        for (const server of servers) server.closeAllConnections();
      }, GOODBYE_MS);
      await Promise.all(servers.map(closeServer));
      clearTimeout(stragglers);
    },
  };
}

function admitted(engine: Engine, admission: Admission, onRequest: OnRequest | undefined): RequestListener {
  const answerAs = (request: IncomingMessage, response: ServerResponse, identity: Identity | Refusal) => {
    // The sender may have disconnected while its token waited.
    if (request.socket.destroyed) return;
    const isRefused = 'status' in identity;
    if (isRefused && (identity.status !== 401 || !isPublic(request))) {
      engine.turnedAway(identity.code);
      answerRefusal(response, identity);
    } else if (onRequest) onRequest(request, response, isRefused ? STRANGER : httpPrincipal(identity));
    else response.writeHead(404).end();
  };
  return (request, response) => {
    const foreign = admission.checkSource(request);
    if (foreign) answerAs(request, response, foreign);
    else admission.identify(request, (identity) => answerAs(request, response, identity));
  };
}

/** Liveness needs no token, and neither does the console page: its files are in every copy of the package. */
function isPublic({ method, url = '' }: IncomingMessage): boolean {
  if (url === '/healthz' || url === '/readyz') return true;
  // Normalizes the path as the HTTP app will: `/console/../functions` is not the console.
  const whole = `http://localhost${url}`;
  const path = URL.canParse(whole) ? new URL(whole).pathname : url;
  return method === 'GET' && (path === '/' || path.startsWith('/console/'));
}

function answerRefusal(response: ServerResponse, refusal: Refusal): void {
  const { status, code, message } = refusal;
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 429) response.setHeader('Retry-After', '1');
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify({ error: { code, message } }));
}

/** Listens on the given address and, for loopback, also on IPv6: `localhost` may resolve to either. */
async function listen(options: ServerOptions, create: () => Server): Promise<Server[]> {
  const main = create();
  await listenOn(main, options.host, options.port);
  if (!isLoopback(options.host) || options.host === '::1') return [main];

  const twin = create();
  const { port } = main.address() as AddressInfo;
  const hasTwin = await listenOn(twin, '::1', port).then(
    () => true,
    () => false,
  );
  return hasTwin ? [main, twin] : [main];
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
