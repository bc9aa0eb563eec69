/** Requests of an attacker: raw bytes, without a client that would correct them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const DEADLINE_MS = 30_000;

export interface RawResponse {
  /** 0 when the server closed without a response. */
  status: number;
  headers: Record<string, string>;
  body: string;
}

export const upgradeHeaders = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export type Headers = Record<string, string | undefined>;

/** Sends a request and reads the answer until the server closes, or until the response is complete. */
export async function request(
  url: string,
  target: string,
  headers: Headers = {},
  method = 'GET',
  rest = '',
): Promise<RawResponse> {
  const { hostname, port, host } = new URL(url);
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return exchange(hostname, Number(port), `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${rest}`);
}

/** Requests an upgrade; a 101 is an answer like any other, and the socket is closed after it. */
export function upgrade(url: string, headers: Headers = {}, rest = ''): Promise<RawResponse> {
  const { pathname, search } = new URL(url);
  return request(url, pathname + search, { ...upgradeHeaders, ...headers }, 'GET', rest);
}

/** Sends bytes as they are. */
export async function exchange(host: string, port: number, bytes: string): Promise<RawResponse> {
  const socket = connect(port, host.replace(/^\[|\]$/g, ''));
  try {
    socket.write(bytes, 'latin1');
    return await readResponse(socket);
  } finally {
    socket.destroy();
  }
}

async function readResponse(socket: Socket): Promise<RawResponse> {
  let text = '';
  socket.setEncoding('latin1');
  const enough = new AbortController();
  socket.on('data', (data: string) => {
    text += data;
    if (text.startsWith('HTTP/1.1 101')) enough.abort();
  });
  socket.on('error', () => enough.abort());
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(DEADLINE_MS)]);
  await once(socket, 'end', { signal }).catch(() => {
    if (!enough.signal.aborted) throw new Error(`no end of the response within ${DEADLINE_MS} ms: ${text}`);
  });
  return parse(text);
}

function parse(text: string): RawResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = rest.join('\r\n\r\n');
  const isChunked = headers['transfer-encoding'] === 'chunked';
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: isChunked ? joined(body) : body };
}

function joined(chunks: string): string {
  return [...chunks.matchAll(/^[0-9a-f]+\r\n(.*)\r\n/gm)].map((match) => match[1]).join('');
}
