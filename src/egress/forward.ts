/**
 * Forwards one plain HTTP request through the proxy.
 *
 * It is parsed and rewritten, with one length and the Host that was decided on, so the server reads exactly the request
 * that the rules approved. Every request has a connection of its own.
 */
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

import type { Exit } from './outbound.ts';
import { Refusal } from './refusal.ts';
import { spelled } from './target.ts';

const HTTP_PORT = 80;

/** Hop-by-hop headers, and headers decided here. */
const NOT_FORWARDED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Methods that have a body only if a header announces one. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Throws a `Refusal` before anything was sent back; later failures end the connection. */
export async function forward(asked: IncomingMessage, reply: ServerResponse, exit: Exit): Promise<void> {
  const { authority, path } = readUrl(asked.url ?? '');
  const gone = new AbortController();
  reply.once('close', () => gone.abort());
  const { socket, target } = await exit.open(authority, { defaultPort: HTTP_PORT, signal: gone.signal });

  const onward = request({
    createConnection: () => socket,
    method: asked.method,
    path,
    headers: ['host', spelled(target, HTTP_PORT), ...forwardable(asked), ...bodyHeaders(asked)],
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve);
    onward.on('error', reject);
    onward.once('close', () => reject(new Error('the server ended the connection')));
  });
  reply.once('close', () => onward.destroy());
  asked.pipe(onward);
  const answer = await answered.catch((error: unknown) => {
    throw new Refusal('unreachable', `${spelled(target)} gave no answer`, null, error);
  });
  if (answer.statusCode! < 200) throw new Refusal('unreachable', `${spelled(target)} sent an invalid HTTP response`);
  reply.writeHead(answer.statusCode!, [...forwardable(answer), ...lengthOf(answer)]);
  pipeline(answer, reply, () => {});
}

/** Proxy form, with the whole URL. */
function readUrl(url: string): { authority: string; path: string } {
  const parts = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url);
  if (!parts) {
    throw new Refusal(
      'bad_request',
      'this is the egress proxy: it takes http://host/path, and CONNECT for everything else',
    );
  }
  const [, authority, path] = parts;
  return { authority: authority!, path: path!.startsWith('/') ? path! : `/${path}` };
}

function forwardable({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...NOT_FORWARDED, ...named]);
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || dropped.has(name.toLowerCase()) ? [] : [name, rawHeaders[at + 1]!],
  );
}

function bodyHeaders(asked: IncomingMessage): string[] {
  if (asked.headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked'];
  const length = lengthOf(asked);
  return length.length > 0 || WITHOUT_BODY.has(asked.method!) ? length : ['content-length', '0'];
}

/** Ignored beside chunked encoding. */
function lengthOf({ headers }: IncomingMessage): string[] {
  const length = headers['content-length'];
  return length === undefined || headers['transfer-encoding'] !== undefined ? [] : ['content-length', length];
}
