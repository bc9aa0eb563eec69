import { createServer, type AddressInfo, type Server } from 'node:net';

import { afterEach, expect, test } from 'vitest';

import { startEngine } from '#testing';
import { checkEngine } from './check-engine.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A listener on a port that is not an engine. */
async function listen(): Promise<number> {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('an engine that answers is ok', async () => {
  await using engine = await startEngine();
  expect(await checkEngine(engine.url, undefined)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining(`an engine answers at ${engine.url}`),
  });
});

test('a port without a listener is free', async () => {
  const port = await listen();
  server!.close();
  const url = `ws://127.0.0.1:${port}`;
  expect(await checkEngine(url, undefined)).toEqual({
    check: 'engine',
    status: 'ok',
    detail: `nothing listens at ${url}: the port is free`,
    fix: 'workcell start',
  });
});

test('another listener at the port is named', async () => {
  const url = `ws://127.0.0.1:${await listen()}`;
  expect(await checkEngine(url, undefined)).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining(`something else listens at ${url}`),
    fix: 'workcell start --port picks another port',
  });
});

test('a host that is not found is not a free port', async () => {
  expect(await checkEngine('ws://no-such-host.invalid:49134', undefined)).toEqual({
    check: 'engine',
    status: 'warn',
    detail: 'no answer from ws://no-such-host.invalid:49134',
    fix: 'check the address',
  });
});
