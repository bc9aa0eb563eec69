/**
 * The destination of a request, in canonical form.
 *
 * Hosts are parsed by the rules of URLs, as browsers do: `0x7f.1`, `2130706433`, `EXAMPLE.com.` and full-width letters
 * are canonicalized before any rule is checked. Invalid hosts are refused and never resolved.
 */
import { isIPv4 } from 'node:net';

import { canonicalAddress } from './addresses.ts';

/** A name that DNS could have, or an address; neither in brackets. */
export type Host = { kind: 'name'; name: string } | { kind: 'address'; address: string };

export interface Target {
  readonly host: Host;
  readonly port: number;
}

/** Its callers put the text that was read in front of the message. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Printable ASCII; a user, path, query or fragment is refused. */
const AUTHORITY = /^[\x21-\x7e]+$/;
const OTHER_PARTS = /[@/\\?#]/;

/** `host:port` of a CONNECT, or the authority of a URL, which may leave the port out. */
export function readAuthority(text: string, defaultPort?: number): Target {
  if (!AUTHORITY.test(text) || OTHER_PARTS.test(text)) throw new TargetError('it has characters that no host has');
  const parts = /^(\[[^[\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const port = parts?.[2] === undefined ? defaultPort : Number(parts[2]);
  if (!parts || port === undefined) throw new TargetError('it is not host:port, such as example.org:443');
  if (port < 1 || port > 65_535) throw new TargetError(`port ${port} is not between 1 and 65535`);
  return { host: readHost(parts[1]!), port };
}

export function readHost(text: string): Host {
  const hostname = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`).hostname : '';
  if (hostname.startsWith('[')) return { kind: 'address', address: canonicalAddress(hostname.slice(1, -1)) };
  if (isIPv4(hostname)) return { kind: 'address', address: hostname };
  const name = hostname.replace(/\.$/, '');
  if (!NAME.test(name)) throw new TargetError('it is not a host name');
  return { kind: 'name', name };
}

export const hostText = (host: Host): string => (host.kind === 'name' ? host.name : host.address);

/** The target as in a URL or a Host header. */
export function spelled({ host, port }: Target, defaultPort?: number): string {
  const text = hostText(host);
  const bracketed = text.includes(':') ? `[${text}]` : text;
  return port === defaultPort ? bracketed : `${bracketed}:${port}`;
}
