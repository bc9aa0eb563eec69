/**
 * One entry of an egress list: which hosts, on which ports.
 *
 * An allow entry without a port means 80 and 443; a deny entry means every port. `*` is any public name, and neither an
 * address nor this machine: those have to be listed.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';

import { canonicalAddress, isPublic } from './addresses.ts';
import { hostText, readHost, TargetError, type Host, type Target } from './target.ts';

/** This machine, from inside a sandbox. It means the host's loopback and is never resolved. */
export const HOST_NAME = 'host.internal';

const WEB_PORTS = [80, 443];

export interface Rule {
  /** The entry as it was written. */
  readonly entry: string;
  readonly hosts: Hosts;
  readonly ports: readonly number[] | 'any';
}

type Hosts =
  | { kind: 'any' }
  | { kind: 'name'; name: string }
  /** The names below a domain, without the domain itself. */
  | { kind: 'below'; domain: string }
  | { kind: 'addresses'; first: string; prefix: number; list: BlockList };

/** A wider network does not count as naming a private address inside it. */
const WIDEST_PRIVATE = { ipv4: 8, ipv6: 7 };

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');
const longest = (address: string) => (isIPv4(address) ? 32 : 128);

export function parseRule(entry: string, list: 'allow' | 'deny'): Rule {
  const isBareV6 = isIP(entry.split('/')[0]!) === 6;
  const parts = isBareV6 ? [entry, entry] : /^(?:\[([^[\]]+)\]|([^:[\]]+))(?::(\d{1,5}|\*))?$/.exec(entry);
  if (!parts) throw new TargetError('it is not host, host:port or [address]:port');
  const [, bracketed, plain, port] = parts;
  return { entry, hosts: parseHosts(bracketed ?? plain!), ports: parsePorts(port, list) };
}

function parsePorts(port: string | undefined, list: 'allow' | 'deny'): Rule['ports'] {
  if (port === undefined) return list === 'allow' ? WEB_PORTS : 'any';
  if (port === '*') return 'any';
  if (Number(port) < 1 || Number(port) > 65_535) throw new TargetError(`port ${port} is not between 1 and 65535`);
  return [Number(port)];
}

function parseHosts(text: string): Hosts {
  if (text === '*') return { kind: 'any' };
  const [base = '', length] = text.split('/', 2);
  if (length !== undefined) return addresses(base, length);

  const isBelow = text.startsWith('*.');
  const host = readHost(isIP(text) === 6 ? `[${text}]` : text.slice(isBelow ? 2 : 0));
  if (host.kind === 'name') return isBelow ? { kind: 'below', domain: host.name } : host;
  if (isBelow) throw new TargetError('*. needs a domain name, not an address');
  return addresses(host.address, String(longest(host.address)));
}

function addresses(base: string, length: string): Hosts {
  if (!isIP(base) || !/^\d{1,3}$/.test(length) || Number(length) > longest(base)) {
    throw new TargetError('it is not a network such as 10.0.0.0/8');
  }
  const first = canonicalAddress(base);
  const prefix = Number(length);
  if (familyOf(first) !== familyOf(base)) {
    throw new TargetError('it embeds an IPv4 address; write the IPv4 network, such as 10.0.0.0/8');
  }
  const list = new BlockList();
  list.addSubnet(first, prefix, familyOf(first));
  return { kind: 'addresses', first, prefix, list };
}

export function hasPort({ ports }: Rule, port: number): boolean {
  return ports === 'any' || ports.includes(port);
}

export function matches(rule: Rule, { host, port }: Target): boolean {
  if (!hasPort(rule, port)) return false;
  const { hosts } = rule;
  switch (hosts.kind) {
    case 'any':
      return isPublicName(host);
    case 'name':
      return hosts.name === hostText(host);
    case 'below':
      return host.kind === 'name' && host.name !== HOST_NAME && host.name.endsWith(`.${hosts.domain}`);
    case 'addresses':
      return host.kind === 'address' && hosts.list.check(host.address, familyOf(host.address));
  }
}

/** A name without a dot belongs to the local network. */
const isPublicName = (host: Host) => host.kind === 'name' && host.name !== HOST_NAME && host.name.includes('.');

/** Whether the rule lists this address itself, and does not only contain it in a wide network. */
export function names({ hosts }: Rule, address: string): boolean {
  if (hosts.kind !== 'addresses' || !hosts.list.check(address, familyOf(address))) return false;
  const { first, prefix } = hosts;
  return prefix === longest(first) || (!isPublic(first) && prefix >= WIDEST_PRIVATE[familyOf(first)]);
}

/** Whether the wider rule contains all hosts of the entry, and at least one of its ports. */
export function covers(wider: Rule, entry: Rule): boolean {
  if (entry.ports === 'any' ? wider.ports !== 'any' : !entry.ports.some((port) => hasPort(wider, port))) return false;
  const [outer, inner] = [wider.hosts, entry.hosts];
  switch (inner.kind) {
    case 'any':
      return outer.kind === 'any';
    case 'name':
      return matches({ ...wider, ports: 'any' }, { host: inner, port: 0 });
    case 'below':
      if (outer.kind === 'below') return `.${inner.domain}`.endsWith(`.${outer.domain}`);
      return outer.kind === 'any';
    case 'addresses':
      if (outer.kind !== 'addresses' || outer.prefix > inner.prefix) return false;
      return outer.list.check(inner.first, familyOf(inner.first));
  }
}
