/**
 * WebSocket upgrades: dispatches by path and checks admission.
 *
 * A refused upgrade is answered as HTTP, so that clients back off instead of reconnecting at once.
 * Channels carry their own key and need no token: clients send headers with the main socket only.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { WebSocketServer, type WebSocket } from 'ws';

import type { Log } from '#contract';
import type { Admission, Identity } from './admission.ts';
import { attachReaderSocket, attachWriterSocket } from './channels/channel-sockets.ts';
import type { Engine } from './engine.ts';
import { Heartbeat } from './heartbeat.ts';
import { SocketLink } from './socket-link.ts';
import { Message, type Room } from './telemetry/message.ts';
import { handshakeKey, TelemetrySink } from './telemetry/telemetry-sink.ts';

/** TCP keep-alive of channel sockets: an end that waits for its other end reads nothing, so it cannot answer pings. */
const KEEP_ALIVE_MS = 30_000;
const CHANNEL_PATH = /^\/ws\/channels\/([\w-]+)$/;

/** Takes the connection over. */
type Take = (stream: Duplex, head: Buffer) => void;
type Verdict = Take | { status: number; code?: string; message: string };

export class Upgrades {
  readonly #engine: Engine;
  readonly #admission: Admission;
  readonly #log: Log;
  readonly #heartbeat: Heartbeat;
  readonly #sockets: WebSocketServer;
  readonly #sinks = new Set<TelemetrySink>();
  readonly #telemetryRoom: Room;

  constructor(engine: Engine, admission: Admission, log: Log) {
    this.#engine = engine;
    this.#admission = admission;
    this.#log = log;
    this.#heartbeat = new Heartbeat(engine.limits);
    const { maxFrameBytes: maxPayload, maxTelemetryBytes: left, maxTelemetryMessageBytes } = engine.limits;
    this.#telemetryRoom = { left, maxMessageBytes: maxTelemetryMessageBytes };
    this.#sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload });
  }

  take(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy());
    this.#judge(request, (verdict) => {
      if ('status' in verdict) {
        if (verdict.code !== undefined) this.#engine.turnedAway(verdict.code);
        return refuse(stream, verdict.status, verdict.message);
      }
      // The sender may have disconnected while its token waited.
      if (request.socket.destroyed) return;
      request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
      verdict(stream, head);
    });
  }

  /** Closes every socket; `end` also destroys those that do not answer. */
  close(): void {
    this.#heartbeat.close();
    for (const socket of this.#sockets.clients) socket.close(1001, 'the engine is shutting down');
    for (const sink of this.#sinks) sink.close();
  }

  end(): void {
    for (const end of [...this.#sockets.clients, ...this.#sinks]) end.terminate();
  }

  #judge(request: IncomingMessage, then: (verdict: Verdict) => void): void {
    const url = URL.canParse(request.url ?? '', 'http://localhost')
      ? new URL(request.url!, 'http://localhost')
      : undefined;
    if (!url) return then({ status: 400, message: 'the request names no path' });
    const foreign = this.#admission.checkSource(request);
    if (foreign) return then(foreign);

    const channelId = CHANNEL_PATH.exec(url.pathname)?.[1];
    if (channelId !== undefined) return then(this.#judgeChannel(request, channelId, url.searchParams));
    if (url.pathname !== '/' && url.pathname !== '/otel')
      return then({ status: 404, message: 'nothing here speaks WebSocket: the bus is at /' });

    this.#admission.identify(request, (identity) => {
      if ('status' in identity) then(identity);
      else then(url.pathname === '/otel' ? this.#judgeTelemetry(request) : this.#judgePeer(request, identity));
    });
  }

  #judgePeer(request: IncomingMessage, identity: Identity): Verdict {
    const { hasRoom, limits } = this.#engine;
    if (!hasRoom) return { status: 503, message: `the engine holds ${limits.maxSessions} connections already` };
    const remoteAddress = request.socket.remoteAddress ?? 'unknown';
    const isOwnPage = this.#admission.isOwnPage(request, identity);
    return this.#socket(request, (socket) => {
      this.#heartbeat.watch(socket, request.socket);
      const link = new SocketLink(socket, request.socket, limits, this.#log);
      this.#engine.connect(link, { remoteAddress, isOwnPage, ...identity });
    });
  }

  #judgeTelemetry(request: IncomingMessage): Verdict {
    const { limits, telemetry } = this.#engine;
    const limit = limits.maxTelemetrySockets;
    if (this.#sinks.size >= limit) return { status: 503, message: `${limit} connections send telemetry` };
    const key = handshakeKey(request);
    if (key === undefined) return { status: 400, message: 'this is not a WebSocket handshake' };
    return (_, head) => {
      TelemetrySink.accept(request.socket, key);
      const message = telemetry && new Message(this.#telemetryRoom, (whole) => telemetry.forward(whole));
      const sink = new TelemetrySink(request.socket, head, { ...limits, message });
      this.#sinks.add(sink);
      request.socket.on('close', () => this.#sinks.delete(sink));
    };
  }

  #judgeChannel(request: IncomingMessage, channelId: string, query: URLSearchParams): Verdict {
    const direction = query.get('dir');
    const key = query.get('key');
    if (key === null || (direction !== 'read' && direction !== 'write')) {
      return { status: 400, message: 'a channel needs ?key=<access_key>&dir=read|write' };
    }
    const channel = this.#engine.channels.find({ channel_id: channelId, access_key: key, direction });
    if (!channel) return { status: 404, message: 'Channel not found' };
    const attach = direction === 'write' ? attachWriterSocket : attachReaderSocket;
    return this.#socket(request, (socket) => attach(channel, socket));
  }

  #socket(request: IncomingMessage, use: (socket: WebSocket) => void): Take {
    return (stream, head) => this.#sockets.handleUpgrade(request, stream, head, use);
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
