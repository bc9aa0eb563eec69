import type { NetworkInterfaceInfo } from 'node:os';

import { expect, test } from 'vitest';

import { canonicalAddress, isPublic } from './addresses.ts';

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:7f00:1', '127.0.0.1'],
  ['64:ff9b::0a00:1', '10.0.0.1'],
  ['64:ff9b::', '0.0.0.0'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2606:2800:0021::1', '2606:2800:21::1'],
  ['93.184.215.14', '93.184.215.14'],
])('%s is written %s', (address, canonical) => {
  expect(canonicalAddress(address)).toBe(canonical);
});

// Each at the edge of a network that is not public.
test.each(['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'])(
  '%s is public',
  (address) => expect(isPublic(address)).toBe(true),
);
test.each(['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '223.255.255.255', '2606:2800::1'])(
  '%s is public',
  (address) => expect(isPublic(address)).toBe(true),
);

test('an address of this machine is not public', () => {
  const own = (address: string) => [{ address } as NetworkInterfaceInfo];
  const interfaces = { eth0: own('93.184.215.14'), eth1: own('2606:2800::1') };
  expect(['93.184.215.14', '2606:2800::1', '93.184.215.15'].map((address) => isPublic(address, interfaces))).toEqual([
    false,
    false,
    true,
  ]);
});
