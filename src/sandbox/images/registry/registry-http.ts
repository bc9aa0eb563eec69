/**
 * Requests to a registry: its address, authentication and timeouts.
 *
 * Plain HTTP is used only for this machine, also after a redirect. Credentials go only to the host that asked for them.
 */
import { z } from 'zod';

import { RegistryError } from './registry-error.ts';
import type { Reference } from './reference.ts';

export const REGISTRY_DEFAULTS = {
  /** Timeout for the start of a response. */
  answerMs: 30_000,
  /** Longest time without a byte during a download. */
  stallMs: 30_000,
  /** Delays before the retries. */
  retryDelaysMs: [1_000, 3_000] as readonly number[],
};

export type RegistryOptions = Readonly<typeof REGISTRY_DEFAULTS>;

const MAX_REDIRECTS = 5;

const MAX_TOKEN_BYTES = 65_536;

/** The real host of Docker Hub images. */
const DOCKER_HUB = 'registry-1.docker.io';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

const Token = z.union([
  z.object({ token: z.string().min(1) }).transform(({ token }) => token),
  z.object({ access_token: z.string().min(1) }).transform(({ access_token: token }) => token),
]);

export class RegistryHttp {
  readonly #reference: Reference;
  readonly #options: RegistryOptions;
  #token: string | undefined;

  constructor(reference: Reference, options: RegistryOptions) {
    this.#reference = reference;
    this.#options = options;
  }

  /** A response with a body, from a path below the repository of the image. */
  async get(path: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) {
    const { host, path: repository } = this.#reference;
    const scheme = LOOPBACK.test(host) ? 'http' : 'https';
    const url = new URL(`${scheme}://${host === 'docker.io' ? DOCKER_HUB : host}/v2/${repository}/${path}`);

    const first = await this.#follow(url, this.#withToken(headers), signal);
    if (first.status !== 401) return accept(first, url);
    await first.body?.cancel();
    this.#token = await this.#askForToken(first.headers.get('www-authenticate') ?? '', signal);
    return accept(await this.#follow(url, this.#withToken(headers), signal), url);
  }

  /** A whole small response, such as a manifest. */
  async getSmall(
    path: string,
    { headers, maxBytes, signal }: { headers: Record<string, string>; maxBytes: number; signal: AbortSignal },
  ): Promise<Buffer> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(this.#options.answerMs + this.#options.stallMs)]);
    try {
      return await collect(await this.get(path, { headers, signal: either }), maxBytes);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RegistryError) throw error;
      throw new RegistryError('unreachable', `${this.#reference.host} broke off: ${causeOf(error)}`, { cause: error });
    }
  }

  #withToken(headers: Record<string, string>): Record<string, string> {
    return this.#token === undefined ? headers : { ...headers, authorization: `Bearer ${this.#token}` };
  }

  async #askForToken(challenge: string, signal: AbortSignal): Promise<string> {
    const { realm, service } = parametersOf(challenge);
    if (!/^bearer /i.test(challenge) || realm === undefined) {
      const problem = `${this.#reference.host} requires a login, which is not supported`;
      throw new RegistryError('refused', `${problem}; import the image as an archive instead`);
    }
    const url = new URL(realm);
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${this.#reference.path}:pull`);

    const answer = accept(await this.#follow(url, {}, signal), url);
    const token = Token.safeParse(parseJson(await collect(answer, MAX_TOKEN_BYTES)));
    if (!token.success) {
      throw new RegistryError('broken', `${url.host} returned no pull token; check the image reference and pull again`);
    }
    return token.data;
  }

  async #follow(start: URL, startHeaders: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let url = start;
    let headers = startHeaders;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.host))) {
        throw new RegistryError(
          'refused',
          `${url.origin} uses plain HTTP, which is allowed only for this machine; use a registry with HTTPS`,
        );
      }
      const answer = await this.#ask(url, headers, signal);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399 || location === null) return answer;

      await answer.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== url.origin) headers = withoutLogin(headers);
      url = next;
    }
    throw new RegistryError('broken', `${start.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  async #ask(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#options.answerMs);
    try {
      return await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.any([signal, late.signal]) });
    } catch (error) {
      signal.throwIfAborted();
      const why = late.signal.aborted ? `no answer in ${this.#options.answerMs} ms` : causeOf(error);
      throw new RegistryError('unreachable', `${url.host}: ${why}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

async function collect(answer: Response, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of bodyOf(answer)) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new RegistryError('broken', `${answer.url} is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Undefined for invalid JSON, which no schema accepts. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** The bytes of a response as they arrive. */
export function bodyOf(answer: Response): AsyncIterable<Uint8Array> {
  return (answer.body ?? []) as AsyncIterable<Uint8Array>;
}

function accept(answer: Response, { host, pathname }: URL): Response {
  if (answer.ok) return answer;
  const { status } = answer;
  void answer.body?.cancel();
  const isPassing = status === 429 || status >= 500;
  throw new RegistryError(isPassing ? 'unreachable' : 'refused', `${host} answers ${status} to ${pathname}`);
}

/** The `key="value"` pairs of a challenge. */
function parametersOf(challenge: string): Record<string, string> {
  return Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  );
}

function withoutLogin({ authorization: _, ...rest }: Record<string, string>): Record<string, string> {
  return rest;
}

/** The reason of a failed `fetch`, which is in the cause of its error. */
function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code || message : message;
}
