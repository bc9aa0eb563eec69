import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { openConsole } from './index.ts';

const built = {
  'index.html': '<!doctype html>',
  'assets/index-1a2b.js': 'start()',
  'favicon.svg': '<svg/>',
};

test('the page may load and reach nothing but its own server', async () => {
  await using dir = await tempDir(built);
  const answer = openConsole(dir.root)!.page('http://127.0.0.1:49134/?x=1');

  expect(await answer.text()).toBe('<!doctype html>');
  expect(Object.fromEntries(answer.headers)).toEqual({
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
      "connect-src 'self' ws://127.0.0.1:49134 wss://127.0.0.1:49134; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});

test.each([
  ['assets/index-1a2b.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'start()'],
  ['favicon.svg', 'image/svg+xml', 'no-cache', '<svg/>'],
])('%s', async (name, type, lifetime, text) => {
  await using dir = await tempDir(built);
  const answer = openConsole(dir.root)!.asset(name)!;
  expect([answer.headers.get('content-type'), answer.headers.get('cache-control'), await answer.text()]).toEqual([
    type,
    lifetime,
    text,
  ]);
});

test.each([
  ['gzip, deflate, br', 'gzip'],
  ['br;q=1.0, GZIP;q=0.8', 'gzip'],
  ['gzip;q=0', null],
  ['gzip; q=0.000, br', null],
  ['br', null],
  [undefined, null],
])('a client that accepts %j gets %s', async (accepted, encoding) => {
  await using dir = await tempDir({ ...built, 'assets/large.js': 'run();'.repeat(1_000) });
  const answer = openConsole(dir.root)!.asset('assets/large.js', accepted)!;
  const bytes = Buffer.from(await answer.arrayBuffer());

  expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([encoding, 'Accept-Encoding']);
  expect((encoding ? gunzipSync(bytes) : bytes).toString()).toBe('run();'.repeat(1_000));
  expect(bytes.length < 6_000).toBe(encoding !== null);
});

test.each(['../secret', 'assets/../../secret', '/etc/passwd', 'assets', '', 'index.html'])(
  'there is no asset %j',
  async (name) => {
    await using dir = await tempDir({
      secret: 's',
      ...Object.fromEntries(Object.entries(built).map(([path, text]) => [`built/${path}`, text])),
    });
    expect(openConsole(`${dir.root}/built`)!.asset(name)).toBeUndefined();
  },
);

test('without a build there is no console', async () => {
  await using dir = await tempDir({ 'assets/left-over.js': '' });
  expect([openConsole(dir.root), openConsole(`${dir.root}/none`)]).toEqual([undefined, undefined]);
});
