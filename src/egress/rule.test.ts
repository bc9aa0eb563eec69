import { describe, expect, test } from 'vitest';

import { covers, matches, names, parseRule } from './rule.ts';
import { readAuthority, TargetError } from './target.ts';

const allows = (entry: string, authority: string) => matches(parseRule(entry, 'allow'), readAuthority(authority));

describe('an entry to allow', () => {
  test.each([
    ['example.com', 'example.com:443', true],
    ['example.com', 'example.com:80', true],
    ['example.com', 'example.com:8080', false],
    ['example.com', 'www.example.com:443', false],
    ['EXAMPLE.com.', 'example.COM:443', true],
    ['*.example.com', 'www.example.com:443', true],
    ['*.example.com', 'a.b.example.com:443', true],
    ['*.example.com', 'example.com:443', false],
    ['*.example.com', 'evilexample.com:443', false],
    ['example.com:8080', 'example.com:8080', true],
    ['example.com:8080', 'example.com:443', false],
    ['example.com:*', 'example.com:1', true],
    ['*:443', 'anything.test:443', true],
    ['*:443', 'anything.test:80', false],
    ['*', 'single:443', false],
    ['*', '93.184.215.14:443', false],
    ['*', 'host.internal:443', false],
    ['*.internal', 'host.internal:443', false],
    ['host.internal:3000', 'host.internal:3000', true],
    ['10.0.0.5:5432', '10.0.0.5:5432', true],
    ['10.0.0.5:5432', '0xa.5:5432', true],
    ['10.0.0.0/8:*', '10.1.2.3:9', true],
    ['10.0.0.0/8:*', '11.1.2.3:9', false],
    ['[fd00::/8]:443', '[fd12::1]:443', true],
    ['fd00::1', '[FD00::0001]:443', true],
    ['[::ffff:10.0.0.5]:80', '10.0.0.5:80', true],
    ['bücher.test', 'xn--bcher-kva.test:443', true],
  ])('%s and %s: %s', (entry, authority, expected) => {
    expect(allows(entry, authority)).toBe(expected);
  });
});

test.each([
  ['*.10.0.0.5', '*. needs a domain name, not an address'],
  ['[::ffff:10.0.0.0]/104', 'it is not host, host:port or [address]:port'],
  ['[::ffff:10.0.0.0/104]', 'it embeds an IPv4 address; write the IPv4 network, such as 10.0.0.0/8'],
])('%s is refused: %s', (entry, message) => {
  expect(() => parseRule(entry, 'allow')).toThrow(new TargetError(message));
});

test('a deny entry without a port covers every port', () => {
  expect(matches(parseRule('example.com', 'deny'), readAuthority('example.com:8080'))).toBe(true);
});

test.each([
  ['*:443', 'example.com', true],
  ['*:443', 'example.com:443', true],
  ['*:443', 'example.com:80', false],
  ['*:443', 'example.com:*', false],
  ['*', '10.0.0.5', false],
  ['*', 'host.internal', false],
  ['*', '*.example.com', true],
  ['*.example.com', '*.www.example.com', true],
  ['*.example.com', '*.example.com', true],
  ['*.www.example.com', '*.example.com', false],
  ['*.example.com', 'example.com', false],
  ['*.example.com', '*', false],
  ['10.0.0.0/8:*', '10.1.0.0/16:22', true],
  ['10.1.0.0/16:*', '10.0.0.0/8:22', false],
  ['10.0.0.0/8:*', '[fd00::/8]:22', false],
])('%s covers %s: %s', (wider, entry, expected) => {
  expect(covers(parseRule(wider, 'allow'), parseRule(entry, 'allow'))).toBe(expected);
});

test.each([
  ['10.0.0.5', '10.0.0.5', true],
  ['10.0.0.0/8', '10.0.0.5', true],
  ['127.0.0.0/8', '127.0.0.1', true],
  ['0.0.0.0/0', '10.0.0.5', false],
  ['8.0.0.0/6', '10.0.0.5', false],
  ['[fc00::/7]', 'fd00::1', true],
  ['[::/0]', '::1', false],
  ['localhost', '127.0.0.1', false],
])('%s is a name for %s: %s', (entry, address, expected) => {
  expect(names(parseRule(entry, 'allow'), address)).toBe(expected);
});
