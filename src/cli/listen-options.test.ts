import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { parseListenOptions } from './listen-options.ts';

const given = { host: '127.0.0.1', port: '49134' };
const parse = (options: Parameters<typeof parseListenOptions>[0] = {}) =>
  parseListenOptions({ ...given, insecure: true, ...options });

beforeEach(() => void vi.stubEnv('WORKCELL_TOKEN', undefined));
afterEach(() => void vi.unstubAllEnvs());

test('loopback needs no token', () => {
  const open = { port: 49134, token: undefined, allowedHosts: [], allowedOrigins: [] };
  expect(parse()).toEqual({ ...open, host: '127.0.0.1' });
  for (const host of ['localhost', '::1', '127.8.9.1']) expect(parse({ host })).toEqual({ ...open, host });
});

test('passes all options on', () => {
  const options = { host: '0.0.0.0', port: '0', token: 't', 'allow-host': ['a', 'b'], 'allow-origin': ['http://a'] };
  expect(parse(options)).toEqual({
    host: '0.0.0.0',
    port: 0,
    token: 't',
    allowedHosts: ['a', 'b'],
    allowedOrigins: ['http://a'],
  });
});

describe('beyond loopback', () => {
  test.each(['0.0.0.0', '::', '192.168.1.2', 'box.example', '127.0.0.1.evil', 'localhost.evil'])(
    '%s needs a token',
    (host) => {
      expect(() => parse({ host })).toThrow(
        expect.objectContaining({
          name: 'ConfigError',
          message: `--host ${host} is reachable from other machines, so a token is needed: give --token or set WORKCELL_TOKEN`,
        }),
      );
    },
  );

  test('a token may come from the environment; an empty one is ignored', () => {
    vi.stubEnv('WORKCELL_TOKEN', 'from-env');
    expect(parse({ host: '0.0.0.0' })).toMatchObject({ token: 'from-env' });
    expect(parse({ host: '0.0.0.0', token: 'given' })).toMatchObject({ token: 'given' });
    vi.stubEnv('WORKCELL_TOKEN', '');
    expect(parse()).toMatchObject({ token: undefined });
    expect(() => parse({ host: '0.0.0.0' })).toThrow('a token is needed');
    expect(() => parse({ host: '0.0.0.0', token: '' })).toThrow('a token is needed');
  });
});

test('beyond loopback TLS or --insecure is required', () => {
  const open = { host: '0.0.0.0', token: 't', insecure: undefined };
  expect(() => parse(open)).toThrow('would travel in the clear: give --tls-cert and --tls-key, or --insecure');
  expect(() => parse({ ...open, 'tls-cert': 'a.pem' })).toThrow('--tls-cert and --tls-key go together');
  expect(() => parse({ ...open, 'tls-cert': 'none.pem', 'tls-key': 'none.pem' })).toThrow(
    '--tls-cert: cannot read none.pem: ENOENT',
  );
  expect(parseListenOptions({ ...given, host: '0.0.0.0', insecure: true }, { hasTokens: true })).toMatchObject({
    host: '0.0.0.0',
  });
});

test.each(['65536', '-1', '1.5', 'http', '', ' ', '0x10', '1e3'])('port "%s" is refused', (port) => {
  expect(() => parse({ port })).toThrow(
    expect.objectContaining({ name: 'ConfigError', message: `--port must be 0 to 65535 (got "${port}")` }),
  );
});
