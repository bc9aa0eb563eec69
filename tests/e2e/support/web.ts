/** Plain requests that may name any host, and ports that are free. */
import { connect, createServer, type Socket } from 'node:net';
import { request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

export interface WebAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  /** Parsed where it is JSON. */
  body: unknown;
}

export async function web(url: string, options: RequestOptions & { body?: string } = {}): Promise<WebAnswer> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: false, timeout: 60_000, ...rest }, (incoming) => {
      const { statusCode = 0, headers } = incoming;
      const isJson = /json/.test(headers['content-type'] ?? '');
      text(incoming).then(
        (answer) => resolve({ status: statusCode, headers, body: isJson ? JSON.parse(answer) : answer }),
        reject,
      );
    });
    outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error(`${url} did not answer`)));
    outgoing.end(body);
  });
}

/** Whether something listens there. */
export function isListening(port: number): Promise<boolean> {
  return web(`http://127.0.0.1:${port}/healthz`).then(
    () => true,
    () => false,
  );
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Requests whose answers are never read: see openSocket. */
export const UPGRADE =
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
export const HALF_A_REQUEST =
  'POST /functions/coder/read-file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n';

/** A socket whose request the server has taken; what comes after that is not answered. */
export function openSocket(port: number, bytes: string) {
  return new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }).on('error', reject);
    socket.once('data', () => resolve(socket.pause()));
    socket.write(bytes);
  });
}
