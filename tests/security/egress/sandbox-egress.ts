/**
 * An egress proxy that reaches only this machine: the test resolves names, and whatever address is dialled,
 * one server of the test answers. Lookups and dials are recorded.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { silentLog, type Log } from '#contract';
import type { EgressTimes } from '../../../src/egress/egress-proxy.ts';
import { EgressProxy } from '../../../src/egress/index.ts';
import { EgressCeiling, EgressRequest, policyOf } from '../../../src/workers/sandbox/egress/index.ts';

const PATIENCE_MS = 30_000;
/** Silence after the expected answers, in which an extra one would arrive. */
const QUIET_MS = 50;

export interface EgressLab extends AsyncDisposable {
  readonly proxy: EgressProxy;
  readonly lookedUp: string[];
  readonly dialled: string[];
  /** The bytes that the server got, one text per connection. */
  readonly received: string[];
  /** The answer of the proxy to these bytes, until it ends the connection or was silent after so many responses. */
  ask(bytes: string | Buffer, options?: { end?: boolean; answers?: number; quietMs?: number }): Promise<string>;
  /** A connection to the proxy. */
  open(): Promise<Socket>;
}

export interface LabOptions {
  ceiling?: object;
  wanted?: object;
  /** Resolves a name, on every lookup. */
  names?: Record<string, string[] | (() => string[])>;
  /** Handles a connection to the server; by default it answers every request with `served`. */
  serve?: (socket: Socket) => void;
  times?: Partial<EgressTimes>;
  log?: Log;
}

export const SERVED = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nserved';

export async function startEgress({
  ceiling = {},
  wanted,
  names = {},
  serve,
  times,
  log = silentLog,
}: LabOptions = {}): Promise<EgressLab> {
  const lookedUp: string[] = [];
  const dialled: string[] = [];
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };

  const server = await listening((socket) => {
    keep(socket);
    const at = received.push('') - 1;
    socket.on('data', (piece) => (received[at] += piece.toString('latin1')));
    if (serve) return serve(socket);
    socket.on('data', () => socket.write(SERVED));
  });
  const policy = policyOf(EgressCeiling.parse(ceiling), wanted && EgressRequest.parse(wanted));
  const network = {
    async lookup(name: string) {
      lookedUp.push(name);
      const found = names[name];
      if (!found) throw new Error('ENOTFOUND');
      return typeof found === 'function' ? found() : found;
    },
    async dial(addresses: readonly string[], port: number) {
      dialled.push(`${addresses.join(' ')}:${port}`);
      const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
      keep(socket);
      await once(socket, 'connect');
      return socket;
    },
  };
  const proxy = new EgressProxy({ policy, network, log, sandboxId: 'lab', times });
  const front = await listening((socket) => {
    keep(socket);
    proxy.take(socket);
  });

  const open = async () => {
    const socket = connect({ port: portOf(front), host: '127.0.0.1', allowHalfOpen: true });
    keep(socket);
    await once(socket, 'connect');
    return socket;
  };
  return {
    proxy,
    lookedUp,
    dialled,
    received,
    open,
    async ask(bytes, { end = false, answers = 1, quietMs = QUIET_MS } = {}) {
      const socket = await open();
      let answer = '';
      let quiet: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        const late = setTimeout(resolve, PATIENCE_MS);
        const restart = () => {
          clearTimeout(quiet);
          if (wholeAnswers(answer) >= answers) quiet = setTimeout(resolve, quietMs);
        };
        socket.on('data', (piece) => {
          answer += piece.toString('latin1');
          restart();
        });
        socket.once('end', resolve).once('close', resolve);
        void Promise.resolve().then(() => over.finally(() => clearTimeout(late)));
      });
      if (end) socket.end(bytes);
      else socket.write(bytes);
      await over;
      socket.destroy();
      return answer;
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
      for (const one of [server, front]) await new Promise((resolve) => one.close(resolve));
    },
  };
}

/**
 * Counts complete responses: with Content-Length or chunked. Any other head counts, and its rest as one more response.
 */
function wholeAnswers(text: string): number {
  let [count, at] = [0, 0];
  for (;;) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return count;
    const head = text.slice(at, headEnd);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    const isChunked = /^transfer-encoding: *chunked/im.test(head);
    at = headEnd + 4 + Number(length ?? 0);
    if (isChunked) {
      const last = text.indexOf('\r\n0\r\n\r\n', headEnd);
      if (last < 0) return count;
      at = last + 7;
    }
    if (at > text.length) return count;
    count++;
    if (length === undefined && !isChunked) return count + (at < text.length ? 1 : 0);
  }
}

async function listening(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export const portOf = (server: Server) => (server.address() as AddressInfo).port;
