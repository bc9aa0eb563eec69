/**
 * Which addresses belong to the public internet.
 *
 * IPv6 is public only in the globally routed range; forms that embed an IPv4 address are judged by that address, except
 * 6to4, which is never public. The addresses of this machine itself are not public, even if they are routed.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

const NOT_PUBLIC_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // behind the NAT of a provider, and its metadata services
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // the metadata service of one cloud, in a range that looks public
  ['169.254.0.0', 16], // link local, and the metadata of most clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

const NOT_PUBLIC_V6 = [
  ['2001::', 23], // Teredo and other ranges that are not destinations
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['3fff::', 20],
] as const;

const CARRIES_V4 = [
  ['::ffff:0:0', 96], // IPv4-mapped
  ['64:ff9b::', 96], // NAT64
] as const;

const notPublic = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V4) notPublic.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of NOT_PUBLIC_V6) notPublic.addSubnet(net, prefix, 'ipv6');
const handedOut = new BlockList();
handedOut.addSubnet('2000::', 3, 'ipv6');
const carriesV4 = new BlockList();
for (const [net, prefix] of CARRIES_V4) carriesV4.addSubnet(net, prefix, 'ipv6');

/** The canonical spelling of an address; the IPv4 address for an IPv6 form that only embeds one. */
export function canonicalAddress(address: string): string {
  if (isIPv4(address)) return address;
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  if (!carriesV4.check(canonical, 'ipv6')) return canonical;
  const [high = 0, low = 0] = groupsOf(canonical).slice(-2);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

const ofThisMachine = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['168.63.129.16', 32],
] as const)
  ofThisMachine.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of [
  ['::', 127],
  ['fe80::', 10],
] as const)
  ofThisMachine.addSubnet(net, prefix, 'ipv6');

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Whether a canonical address belongs to another machine: neither loopback, nor link local, nor metadata of a cloud.
 */
export function isOfNetwork(address: string, interfaces: Interfaces = networkInterfaces()): boolean {
  return !isOfThisMachine(address, interfaces) && !ofThisMachine.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Takes a canonical address. */
export function isPublic(address: string, interfaces: Interfaces = networkInterfaces()): boolean {
  if (isOfThisMachine(address, interfaces)) return false;
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4');
  return isIPv6(address) && handedOut.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

function isOfThisMachine(address: string, interfaces: Interfaces): boolean {
  return Object.values(interfaces).some((list) => list?.some((own) => own.address === address));
}

/** The eight numbers of a canonical IPv6 address. */
function groupsOf(canonical: string): number[] {
  const [left = '', right = ''] = canonical.split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [start, end] = [numbers(left), numbers(right)];
  return [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end];
}
