/**
 * Decides which requests this port accepts, before anything else is read.
 *
 * A browser page of another site can reach a loopback port: its `Origin` shows that or, on requests that browsers send
 * without one (images, scripts, links), `Sec-Fetch-Site`; a rebinding attack shows in `Host`. Anything beyond loopback
 * needs the token.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { makePrincipal, type Principal } from '#contract';
import { BadTries } from './bad-tries.ts';

export interface AdmissionRules {
  /** Address the server is bound to. */
  host: string;
  /** Bearer token that calls must carry, if any. */
  token?: string;
  /** More tokens, by the name that lists and logs show for a caller that sends one. */
  tokens?: Readonly<Record<string, string>>;
  /** Named tokens with policies, and the policy of callers without one. */
  access?: TokenBook | undefined;
  /** Sent by commands of the operator; no other user can read it. */
  operatorKey?: string | undefined;
  /** Host names that requests may name besides loopback and the bound address. */
  allowedHosts?: string[];
  /** Origins that pages may come from besides the server's own. */
  allowedOrigins?: string[];
}

/** Finds a token by its secret. */
export interface TokenBook {
  readonly hasTokens: boolean;
  /** The policy of callers without a token on loopback; they need a token if there is none. */
  readonly local?: string | undefined;
  lookUp(secret: string): { token: { name: string; policy?: string | undefined } } | { problem: string };
}

/** The sender of a request, as far as its token says. */
export interface Identity {
  /** Name of its token. */
  readonly token?: string;
  readonly policy?: string | undefined;
  readonly isOperator?: boolean;
}

export interface Refusal {
  status: 401 | 403 | 429;
  code: 'unauthorized' | 'foreign_host' | 'foreign_origin' | 'too_many_tries';
  message: string;
}

const EXPIRED = unauthorized('this token has expired');
const TOO_MANY_TRIES: Refusal = {
  status: 429,
  code: 'too_many_tries',
  message: 'this address sent too many tokens that are not known here: wait a second and try again',
};
/** `none`: the user typed the address or opened a bookmark. */
const OWN_SITES = new Set(['same-origin', 'none']);
/** Caller name for the unnamed token. */
const UNNAMED = 'token';
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '::1']);

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.has(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

export class Admission {
  readonly #rules: AdmissionRules;
  readonly #tokens: [name: string, secret: string][];
  readonly #tries = new BadTries();
  #hadTokens: boolean;

  constructor(rules: AdmissionRules) {
    this.#rules = rules;
    const { token, tokens } = rules;
    this.#tokens = Object.entries({ ...(token !== undefined && { [UNNAMED]: token }), ...tokens });
    this.#hadTokens = this.#hasTokens;
  }

  /** Host, Origin and Sec-Fetch-Site: for every request, whatever it carries. */
  checkSource(request: IncomingMessage): Refusal | undefined {
    const { host, origin, 'sec-fetch-site': site } = request.headers;
    if (!this.#isOwnHost(host)) {
      return foreign('host', `host ${host ?? '(none)'} is not served here: start with --allow-host to serve it`);
    }
    if (origin !== undefined && !this.#isOwnOrigin(origin, host!)) {
      return foreign('origin', `pages of ${origin} may not call this server: start with --allow-origin to let them`);
    }
    if (origin === undefined && site !== undefined && !OWN_SITES.has(String(site))) {
      const advice = 'to open this server, type its address into the browser';
      return foreign('origin', `another site sent this request (Sec-Fetch-Site: ${site}): ${advice}`);
    }
    return undefined;
  }

  /**
   * Identifies the sender by its bearer token; channels carry their own key. Delayed if the address sent bad tokens
   * before.
   */
  identify(request: IncomingMessage, then: (found: Identity | Refusal) => void): void {
    const { authorization, 'sec-websocket-protocol': offered } = request.headers;
    const given = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? tokenIn(offered);
    const { remoteAddress } = request.socket;
    const isChecked = this.#tries.beforeCheck(given, remoteAddress, () => {
      if (given === undefined) return then(this.#withoutToken(request));
      const found = this.#withToken(given, request);
      // A token that has expired was not guessed.
      if ('status' in found && found !== EXPIRED) this.#tries.wasBad(remoteAddress);
      else this.#tries.wasGood(given);
      then(found);
    });
    if (!isChecked) then(TOO_MANY_TRIES);
  }

  #withToken(given: string, request: IncomingMessage): Identity | Refusal {
    const { access, operatorKey } = this.#rules;
    if (operatorKey !== undefined && isSameSecret(operatorKey, given)) return { isOperator: true };
    const known = this.#tokens.find(([, secret]) => isSameSecret(secret, given));
    if (known) return { token: known[0] };
    const found = access?.lookUp(given);
    if (found && 'token' in found) return { token: found.token.name, policy: found.token.policy };
    // Accepts a client that sends a token to a server without tokens.
    if (!this.#needsToken) return this.#withoutToken(request);
    return found?.problem === 'expired' ? EXPIRED : unauthorized('this token is not known here');
  }

  #withoutToken({ socket }: IncomingMessage): Identity | Refusal {
    const local = this.#rules.access?.local;
    if (!this.#needsToken || (local !== undefined && isLoopbackPeer(socket.remoteAddress))) return { policy: local };
    return unauthorized('send the header "Authorization: Bearer <token>"');
  }

  /** Beyond loopback, removing the last token does not open the server to everyone. */
  get #needsToken(): boolean {
    this.#hadTokens ||= this.#hasTokens;
    return this.#hasTokens || (this.#hadTokens && !isLoopback(this.#rules.host));
  }

  get #hasTokens(): boolean {
    return this.#tokens.length > 0 || this.#rules.access?.hasTokens === true;
  }

  /**
   * Whether a page of this server sent the request. Browsers do not let a page forge its origin, but a program can: a
   * caller with a policy is not a page, so that its policy decides. The operator's key has no policy.
   */
  isOwnPage({ headers: { host, origin } }: IncomingMessage, { policy }: Identity): boolean {
    return policy === undefined && origin !== undefined && isSameHost(origin, host!);
  }

  #isOwnHost(header: string | undefined): boolean {
    if (header === undefined) return false;
    const name = hostName(header);
    if (name === undefined) return false;
    if (this.#rules.allowedHosts?.includes(name)) return true;
    return isLoopback(this.#rules.host) ? isLoopback(name) : isLoopback(name) || isAddressOf(name, this.#rules.host);
  }

  #isOwnOrigin(origin: string, host: string): boolean {
    return this.#rules.allowedOrigins?.includes(origin) || isSameHost(origin, host);
  }
}

function foreign(what: 'host' | 'origin', message: string): Refusal {
  return { status: 403, code: `foreign_${what}`, message };
}

function unauthorized(message: string): Refusal {
  return { status: 401, code: 'unauthorized', message };
}

/** The principal of an HTTP request. */
export function httpPrincipal({ token, policy, isOperator = false }: Identity): Principal {
  if (isOperator) return { ...makePrincipal('operator', 'http'), approves: true };
  const grants = policy === undefined ? {} : { policy };
  return token === undefined ? makePrincipal('local', 'http', grants) : makePrincipal('token', token, grants);
}

/** IPv4 addresses come as IPv6 on a socket for both. */
function isLoopbackPeer(address = ''): boolean {
  return isLoopback(address.replace(/^::ffff:/, ''));
}

/** A page cannot send headers with its WebSocket: the console offers the token as a subprotocol, in base64url. */
function tokenIn(offered: string | undefined): string | undefined {
  const encoded = /(?:^|,)\s*bearer\.([\w-]+)\s*(?:,|$)/.exec(offered ?? '')?.[1];
  return encoded && Buffer.from(encoded, 'base64url').toString();
}

/** Bound to every interface, any literal address may be this server's; a name has to be allowed. */
function isAddressOf(name: string, bound: string): boolean {
  if (bound === '0.0.0.0' || bound === '::') return /^[\d.]+$/.test(name) || name.includes(':');
  return name === bound;
}

function isSameHost(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === new URL(`http://${host}`).host;
  } catch {
    return false;
  }
}

function hostName(header: string): string | undefined {
  try {
    return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return undefined;
  }
}

/** Takes the same time wherever they differ. */
export function isSameSecret(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}
