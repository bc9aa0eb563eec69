/**
 * The network access of one sandbox or of the fence: a proxy in the server that listens on no port.
 *
 * Connections come from the guest, as streams of the agent, or from the fence through a socket. Node's own parser reads
 * them; plain requests are rewritten, and CONNECT carries bytes both ways until both have ended.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished, type Duplex } from 'node:stream';

import type { Log } from '#contract';
import { EgressLog, type OnHost } from './egress-log.ts';
import { Exit } from './outbound.ts';
import { forward } from './forward.ts';
import { openNetwork, type Network } from './network.ts';
import type { EgressPolicy } from './policy.ts';
import { Refusal } from './refusal.ts';

const MAX_HEADER_BYTES = 16 * 1024;

const TIMES = {
  /** From the start of a connection, or the end of a response, to the complete head of the next request. */
  headMs: 30_000,
  /** To resolve a name and connect. */
  dialMs: 15_000,
  /** Timeout without a byte in either direction. */
  idleMs: 300_000,
};

export type EgressTimes = Readonly<typeof TIMES>;

export interface EgressOptions {
  readonly policy: EgressPolicy;
  readonly log: Log;
  /** Absent for the fence. */
  readonly sandboxId?: string;
  /** Gets each decision. */
  readonly onHost?: OnHost | undefined;
  readonly network?: Network;
  readonly times?: Partial<EgressTimes>;
}

export class EgressProxy {
  readonly policy: EgressPolicy;
  readonly log: EgressLog;
  readonly #exit: Exit;
  readonly #times: EgressTimes;
  /** Never listens: connections are passed to it. */
  readonly #server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 0 });
  /** Connections, each with its idle timer. */
  readonly #connections = new Map<Duplex, NodeJS.Timeout | undefined>();

  constructor({ policy, log, sandboxId, onHost, network = openNetwork(), times }: EgressOptions) {
    this.policy = policy;
    this.log = new EgressLog(log, sandboxId, onHost);
    this.#times = { ...TIMES, ...times };
    // A client may half-close after its request.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    const { dialMs, idleMs } = this.#times;
    this.#exit = new Exit({ policy, network, log: this.log, dialMs, idleMs });
    this.#server.on('request', (asked, reply) => {
      this.#forward(asked, reply).catch((error: unknown) => drop(asked.socket, error));
    });
    this.#server.on('connect', (asked: IncomingMessage, guest: Duplex, head: Buffer) => {
      this.#tunnel(asked, guest, head).catch((error: unknown) => drop(guest, error));
    });
    const drop = (guest: Duplex, error: unknown) => {
      log.error('the egress proxy failed', { sandbox: sandboxId, why: String((error as Error).stack) });
      guest.destroy();
    };
  }

  /** Handles a connection of the guest. */
  take(connection: Duplex): void {
    connection.on('error', () => {});
    connection.once('close', () => {
      clearTimeout(this.#connections.get(connection));
      this.#connections.delete(connection);
    });
    this.#awaitHead(connection);
    this.#server.emit('connection', connection);
  }

  close(): void {
    for (const connection of this.#connections.keys()) connection.destroy();
    this.#exit.close();
  }

  #awaitHead(connection: Duplex): void {
    if (connection.destroyed) return;
    clearTimeout(this.#connections.get(connection));
    this.#connections.set(
      connection,
      setTimeout(() => connection.destroy(), this.#times.headMs),
    );
  }

  #hasHead(connection: Duplex): void {
    clearTimeout(this.#connections.get(connection));
  }

  async #forward(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    this.#hasHead(asked.socket);
    reply.sendDate = false;
    reply.once('close', () => this.#awaitHead(asked.socket));
    try {
      await forward(asked, reply, this.#exit);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply.writeHead(error.status, error.statusText, { 'content-type': 'application/json' }).end(error.body);
      // Discards the rest of its body.
      asked.resume();
    }
  }

  async #tunnel(asked: IncomingMessage, guest: Duplex, head: Buffer): Promise<void> {
    this.#hasHead(guest);
    const gone = new AbortController();
    guest.once('close', () => gone.abort());
    try {
      const { socket } = await this.#exit.open(asked.url ?? '', { signal: gone.signal });
      guest.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) socket.write(head);
      join(guest, socket);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, statusText, body } = error;
      const length = Buffer.byteLength(body);
      guest.end(
        `HTTP/1.1 ${status} ${statusText}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`,
      );
      guest.resume();
      this.#awaitHead(guest);
    }
  }
}

/** Pipes both directions, each until it ends. If one breaks, the other is destroyed too. */
function join(guest: Duplex, socket: Socket): void {
  guest.pipe(socket);
  socket.pipe(guest);
  guest.once('close', () => {
    if (!guest.readableEnded) socket.destroy();
  });
  socket.once('close', () => {
    if (!socket.readableEnded) guest.destroy();
    // The peer has the whole response; later bytes from it have no receiver.
    else finished(guest, { readable: false }, () => guest.destroy());
  });
  if (guest.destroyed) socket.destroy();
}
