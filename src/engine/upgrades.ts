/**
 * WebSocket upgrades: which path is what, and who may have it.
 *
 * A refused upgrade is answered as HTTP, so that clients back off instead of reconnecting at once.
 * Channels carry their own key and `/otel` is a sink, so neither asks for the token: clients send
 * headers with the main socket only.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { WebSocketServer, type WebSocket } from 'ws';

import type { Log } from '#contract';
import type { Admission } from './admission.ts';
import { attachReaderSocket, attachWriterSocket } from './channel-sockets.ts';
import type { Engine } from './engine.ts';
import { Heartbeat } from './heartbeat.ts';
import { SocketLink } from './socket-link.ts';

/** Who may send telemetry needs no token, so what one message of it may cost is small. */
const TELEMETRY_FRAME_BYTES = 4 * 1024 * 1024;
/** For channels: an end that waits for its other end reads nothing, so it cannot answer our pings either. */
const KEEP_ALIVE_MS = 30_000;
const CHANNEL_PATH = /^\/ws\/channels\/([\w-]+)$/;

type Use = (socket: WebSocket, stream: Socket) => void;
type Verdict = { use: Use; server: WebSocketServer } | { status: number; message: string };

export class Upgrades {
  readonly #engine: Engine;
  readonly #admission: Admission;
  readonly #log: Log;
  readonly #heartbeat: Heartbeat;
  readonly #sockets: WebSocketServer;
  readonly #telemetry: WebSocketServer;

  constructor(engine: Engine, admission: Admission, log: Log) {
    this.#engine = engine;
    this.#admission = admission;
    this.#log = log;
    this.#heartbeat = new Heartbeat(engine.limits);
    const settings = { noServer: true, perMessageDeflate: false };
    this.#sockets = new WebSocketServer({ ...settings, maxPayload: engine.limits.maxFrameBytes });
    this.#telemetry = new WebSocketServer({ ...settings, maxPayload: TELEMETRY_FRAME_BYTES });
  }

  take(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy());
    const verdict = this.#judge(request);
    if ('status' in verdict) return refuse(stream, verdict.status, verdict.message);

    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    verdict.server.handleUpgrade(request, stream, head, (socket) => verdict.use(socket, request.socket));
  }

  /** Says goodbye to every socket; `end` cuts those that do not answer. */
  close(): void {
    this.#heartbeat.close();
    for (const socket of this.#clients()) socket.close(1001, 'the engine is shutting down');
  }

  end(): void {
    for (const socket of this.#clients()) socket.terminate();
  }

  #clients(): WebSocket[] {
    return [...this.#sockets.clients, ...this.#telemetry.clients];
  }

  #judge(request: IncomingMessage): Verdict {
    const url = URL.canParse(request.url ?? '', 'http://localhost')
      ? new URL(request.url!, 'http://localhost')
      : undefined;
    if (!url) return { status: 400, message: 'the request names no path' };
    const foreign = this.#admission.checkSource(request);
    if (foreign) return foreign;

    const channelId = CHANNEL_PATH.exec(url.pathname)?.[1];
    if (channelId !== undefined) return this.#judgeChannel(channelId, url.searchParams);
    if (url.pathname === '/otel') return this.#judgeTelemetry();
    if (url.pathname !== '/') return { status: 404, message: 'nothing here speaks WebSocket: the bus is at /' };

    const unauthorized = this.#admission.checkToken(request);
    if (unauthorized) return unauthorized;
    const { hasRoom, limits } = this.#engine;
    if (!hasRoom) return { status: 503, message: `the engine holds ${limits.maxSessions} connections already` };
    const remoteAddress = request.socket.remoteAddress ?? 'unknown';
    const isOwnPage = this.#admission.isOwnPage(request);
    const use: Use = (socket, stream) => {
      this.#heartbeat.watch(socket, stream);
      this.#engine.connect(new SocketLink(socket, stream, limits, this.#log), { remoteAddress, isOwnPage });
    };
    return { use, server: this.#sockets };
  }

  #judgeTelemetry(): Verdict {
    const limit = this.#engine.limits.maxSessions;
    if (this.#telemetry.clients.size >= limit) return { status: 503, message: `${limit} connections send telemetry` };
    const use: Use = (socket, stream) => {
      this.#heartbeat.watch(socket, stream);
      socket.on('error', () => socket.terminate());
    };
    return { use, server: this.#telemetry };
  }

  #judgeChannel(channelId: string, query: URLSearchParams): Verdict {
    const direction = query.get('dir');
    const key = query.get('key');
    if (key === null || (direction !== 'read' && direction !== 'write')) {
      return { status: 400, message: 'a channel needs ?key=<access_key>&dir=read|write' };
    }
    const channel = this.#engine.channels.find({ channel_id: channelId, access_key: key });
    if (!channel) return { status: 404, message: 'Channel not found' };
    const attach = direction === 'write' ? attachWriterSocket : attachReaderSocket;
    return { use: (socket) => attach(channel, socket), server: this.#sockets };
  }
}

function refuse(stream: Duplex, status: number, message: string): void {
  const body = `${message}\n`;
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '';
  stream.once('finish', () => stream.destroy());
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${challenge}` +
      `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
