import type { IncomingMessage } from 'node:http';

import { describe, expect, test } from 'vitest';

import { Admission, isLoopback, type AdmissionRules } from './admission.ts';

const asking = (headers: IncomingMessage['headers']) => ({ headers, socket: {} }) as IncomingMessage;

/** `ok`, or the code of the refusal. */
function source(rules: Partial<AdmissionRules>, headers: IncomingMessage['headers']): string {
  return new Admission({ host: '127.0.0.1', ...rules }).checkSource(asking(headers))?.code ?? 'ok';
}

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['128.0.0.1', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
])('%s is loopback: %s', (host, is) => {
  expect(isLoopback(host)).toBe(is);
});

describe.each([
  [
    '127.0.0.1',
    ['localhost:1', '127.0.0.1', '127.9.9.9:1', '[::1]:1', 'LocalHost'],
    ['10.0.0.1', 'cell.example', '[fe80::1]', '', 'a b'],
  ],
  ['::1', ['localhost', '[::1]:1', '127.0.0.1'], ['[::2]', 'cell.example']],
  ['0.0.0.0', ['10.0.0.1:1', '[fe80::1]:1', 'localhost', '127.0.0.1'], ['cell.example', 'evil.example:1']],
  ['::', ['10.0.0.1', '[fe80::1]', 'localhost'], ['cell.example']],
  ['10.0.0.1', ['10.0.0.1:1', 'localhost'], ['10.0.0.2', 'cell.example']],
  ['cell.example', ['cell.example:1', 'CELL.example', 'localhost'], ['other.example', 'cell.example.evil.example']],
])('bound to %s', (host, own, foreign) => {
  test.each(own)('%s is its own', (name) => {
    expect(source({ host }, { host: name })).toBe('ok');
  });
  test.each(foreign)('%j is foreign', (name) => {
    expect(source({ host }, { host: name })).toBe('foreign_host');
  });
  test('a missing Host is foreign, an allowed one is not', () => {
    expect(source({ host }, {})).toBe('foreign_host');
    expect(source({ host, allowedHosts: ['proxy.example'] }, { host: 'proxy.example:8443' })).toBe('ok');
  });
});

test.each([
  ['http://localhost:1', 'ok'],
  ['https://localhost:1', 'ok'],
  ['http://LOCALHOST:1', 'ok'],
  ['https://friend.example', 'ok'],
  ['http://localhost', 'foreign_origin'],
  ['http://localhost:2', 'foreign_origin'],
  ['http://127.0.0.1:1', 'foreign_origin'],
  ['http://localhost:1.evil.example', 'foreign_origin'],
  ['https://friend.example:1', 'foreign_origin'],
  ['https://not-a-friend.example', 'foreign_origin'],
  ['null', 'foreign_origin'],
  ['', 'foreign_origin'],
])('a page of %j: %s', (origin, verdict) => {
  expect(source({ allowedOrigins: ['https://friend.example'] }, { host: 'localhost:1', origin })).toBe(verdict);
});

test('an allowed host has pages of its own', () => {
  const rules = { allowedHosts: ['cell.example'] };
  expect(source(rules, { host: 'cell.example', origin: 'https://cell.example' })).toBe('ok');
  expect(source(rules, { host: 'cell.example', origin: 'https://localhost' })).toBe('foreign_origin');
});

test.each([
  [undefined, undefined, 'ok'],
  [undefined, 'Bearer anything', 'ok'],
  ['s3cret', 'Bearer s3cret', 'ok'],
  ['s3cret', 'bearer s3cret', 'ok'],
  ['s3cret', undefined, 'unauthorized'],
  ['s3cret', 's3cret', 'unauthorized'],
  ['s3cret', 'Bearer', 'unauthorized'],
  ['s3cret', 'Bearer s3cre', 'unauthorized'],
  ['s3cret', 'Bearer s3cret ', 'unauthorized'],
  ['s3cret', 'Bearer S3CRET', 'unauthorized'],
  ['sécret', 'Bearer sécret', 'ok'],
])('token %j and the header %j: %s', (token, authorization, verdict) => {
  const admission = new Admission({ host: '0.0.0.0', token });
  const codes: string[] = [];
  admission.identify(asking({ authorization }), (found) => codes.push('code' in found ? found.code : 'ok'));
  expect(codes).toEqual([verdict]);
});

test.each([
  ['0.0.0.0', 'unauthorized'],
  ['127.0.0.1', 'ok'],
])('listening on %s, after the last token was removed, a caller without a token is %s', (host, verdict) => {
  const access = { hasTokens: true, lookUp: () => ({ problem: 'unknown' }) };
  const admission = new Admission({ host, access });
  access.hasTokens = false;
  const codes: string[] = [];
  admission.identify(asking({}), (found) => codes.push('code' in found ? found.code : 'ok'));
  expect(codes).toEqual([verdict]);
});
