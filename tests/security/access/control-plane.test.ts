/** Admission to the port: by origin, by host, by token, and with invalid requests. */
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';

import { afterAll, describe, expect, test } from 'vitest';

import { connect } from '#client';
import { silentLog } from '#contract';
import type { ServerOptions } from '#engine';
import { startEngine } from '#testing';
import { startWorkcell } from '../../../src/assembly/workcell.ts';
import { exchange, request, upgrade, upgradeHeaders, type Headers } from '../engine/peer-http.ts';
import { Peer } from '../engine/peer-socket.ts';

const onRequest: ServerOptions['onRequest'] = (_, response) => void response.end('reached');

/** The same headers on each kind of request, with the expected status of each. */
async function everyDoor(url: string, headers: Headers): Promise<Record<string, number>> {
  const answers = await Promise.all([
    upgrade(`${url}/`, headers),
    upgrade(`${url}/otel`, headers),
    upgrade(`${url}/ws/channels/x?key=y&dir=read`, headers),
    request(url, '/functions/x', headers, 'POST'),
    request(url, '/', headers),
    request(url, '/healthz', headers),
  ]);
  const [bus, otel, channel, call, page, health] = answers.map(({ status }) => status);
  return { bus: bus!, otel: otel!, channel: channel!, call: call!, page: page!, health: health! };
}

const REFUSED = { bus: 403, otel: 403, channel: 403, call: 403, page: 403, health: 403 };
/** The channel does not exist, which only an admitted client learns. */
const ADMITTED = { bus: 101, otel: 101, channel: 404, call: 200, page: 200, health: 200 };

describe('pages of other sites', async () => {
  const engine = await startEngine({ onRequest, allowedOrigins: ['https://trusted.example'] });
  afterAll(() => engine.server.close());
  const { port } = engine.server;

  test.each([
    'https://evil.example',
    `http://evil.example:${port}`,
    'null',
    'file://',
    '',
    'http://localhost',
    `http://127.0.0.1:${port + 1}`,
    `http://127.0.0.1.evil.example:${port}`,
    `http://localhost:${port}`,
    `http://[::1]:${port}`,
    'https://trusted.example.evil.example',
    'https://trusted.example:8443',
    'http://trusted.example',
    `http://127.0.0.1:${port}, https://evil.example`,
    'not an origin',
  ])('bus.P13 Origin %j is refused at every door', async (origin) => {
    expect(await everyDoor(engine.url, { Origin: origin })).toEqual(REFUSED);
  });

  test.each([undefined, `http://127.0.0.1:${port}`, 'https://trusted.example'])(
    'Origin %j is admitted',
    async (origin) => {
      expect(await everyDoor(engine.url, { Origin: origin })).toEqual(ADMITTED);
    },
  );

  test.each([
    'cross-site',
    'same-site',
    'CROSS-SITE',
    '',
    'none, cross-site',
    'same-origin\r\nSec-Fetch-Site: cross-site',
  ])('Sec-Fetch-Site %j without an Origin is refused at every door, whatever the request is for', async (site) => {
    for (const more of [{}, { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-User': '?1' }])
      expect(await everyDoor(engine.url, { 'Sec-Fetch-Site': site, ...more })).toEqual(REFUSED);
  });

  test.each([
    ['none', undefined],
    ['same-origin', undefined],
    ['same-origin', `http://127.0.0.1:${port}`],
    ['cross-site', 'https://trusted.example'],
  ])('Sec-Fetch-Site %j with the Origin %j is admitted', async (site, origin) => {
    expect(await everyDoor(engine.url, { 'Sec-Fetch-Site': site, Origin: origin })).toEqual(ADMITTED);
  });

  test('a second Origin header does not outvote the first', async () => {
    const own = `http://127.0.0.1:${port}\r\nOrigin: https://evil.example`;
    expect(await everyDoor(engine.url, { Origin: own })).toEqual(REFUSED);
  });

  test('a refused link says how to get here', async () => {
    const { body } = await request(engine.url, '/', { 'Sec-Fetch-Site': 'cross-site' });
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 'foreign_origin',
        message:
          'another site sent this request (Sec-Fetch-Site: cross-site): to open this server, type its address into the browser',
      },
    });
  });

  test('the refusal says what to do about it', async () => {
    const { headers, body } = await request(engine.url, '/functions/x', { Origin: 'https://evil.example' });
    expect([headers['content-type'], JSON.parse(body)]).toEqual([
      'application/json',
      {
        error: {
          code: 'foreign_origin',
          message: 'pages of https://evil.example may not call this server: start with --allow-origin to let them',
        },
      },
    ]);
    expect((await upgrade(engine.url, { Origin: 'https://evil.example' })).body).toBe(
      'pages of https://evil.example may not call this server: start with --allow-origin to let them\n',
    );
  });
});

test('a page of another site reaches no door of the assembled server, and a user reaches them all', async () => {
  const cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries: [], log: silentLog });
  const doors = ['/', '/openapi.json', '/functions', '/docs/errors', '/healthz', '/mcp', '/console/x', '/otel'];
  const ask = (site: string) =>
    Promise.all(
      ['GET', 'HEAD', 'POST'].flatMap((method) =>
        doors.map(async (path) => (await request(cell.url, path, { 'Sec-Fetch-Site': site }, method)).status),
      ),
    );
  const [foreign, typed] = [await ask('cross-site'), await ask('none')];
  await cell.close();
  expect([new Set(foreign), typed.includes(403), typed.slice(0, 5)]).toEqual([
    new Set([403]),
    false,
    [200, 200, 200, 200, 200],
  ]);
});

describe('names that were bent to point here', async () => {
  const engine = await startEngine({ onRequest, allowedHosts: ['cell.internal'] });
  afterAll(() => engine.server.close());
  const { port } = engine.server;

  test.each([
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1@evil.example:${port}`,
    `0.0.0.0:${port}`,
    `192.168.1.1:${port}`,
    `[::ffff:10.0.0.1]:${port}`,
    'cell.internal.evil.example',
    'not a host',
    ':',
  ])('bus.P13 Host %j is refused at every door', async (host) => {
    expect(await everyDoor(engine.url, { Host: host })).toEqual(REFUSED);
  });

  test.each([
    `localhost:${port}`,
    'LOCALHOST',
    '127.0.0.1',
    '127.8.8.8',
    `[::1]:${port}`,
    'cell.internal',
    'cell.internal:80',
  ])('Host %j is admitted', async (host) => {
    expect(await everyDoor(engine.url, { Host: host })).toEqual(ADMITTED);
  });

  test('the page of a bent name is not an own page', async () => {
    const origin = `http://evil.example:${port}`;
    expect(await everyDoor(engine.url, { Host: `evil.example:${port}`, Origin: origin })).toEqual(REFUSED);
  });

  test('no Host at all is refused, by this server or by Node', async () => {
    const refused = await everyDoor(engine.url, { Host: undefined });
    expect(refused).toEqual({ ...REFUSED, call: 400, page: 400, health: 400 });
    expect((await exchange('127.0.0.1', port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(403);
  });

  test('an absolute target does not replace the Host', async () => {
    const { status } = await request(engine.url, `http://127.0.0.1:${port}/healthz`, { Host: 'evil.example' });
    expect(status).toBe(403);
  });
});

test('localhost by either protocol reaches the same engine', async ({ skip }) => {
  await using engine = await startEngine({ onRequest });
  const twin = `ws://[::1]:${engine.server.port}`;
  const isReachable = await upgrade(twin).then(
    () => true,
    () => false,
  );
  skip(!isReachable, 'this machine has no IPv6 loopback');

  expect(await everyDoor(twin, {})).toEqual(ADMITTED);
  expect(await everyDoor(twin, { Origin: `http://[::1]:${engine.server.port}` })).toEqual(ADMITTED);
  expect(await everyDoor(twin, { Origin: 'https://evil.example' })).toEqual(REFUSED);
});

test('an engine on the IPv6 loopback alone is named with brackets', async ({ skip }) => {
  const engine = await startEngine({ host: '::1', onRequest }).catch(() => undefined);
  skip(!engine, 'this machine has no IPv6 loopback');

  expect(engine!.url).toBe(`ws://[::1]:${engine!.server.port}`);
  expect(await everyDoor(engine!.url, {})).toEqual(ADMITTED);
  await engine!.server.close();
});

describe('with a token', async () => {
  const engine = await startEngine({ onRequest, token: 'correct horse' });
  afterAll(() => engine.server.close());

  test.each([
    ['none', undefined],
    ['an empty one', 'Bearer '],
    ['a wrong one', 'Bearer wrong horse '],
    ['its beginning', 'Bearer correct hors'],
    ['more than it', 'Bearer correct horse '.concat('x')],
    ['it in capitals', 'Bearer CORRECT HORSE'],
    ['it without a scheme', 'correct horse'],
    ['it with another scheme', 'Basic correct horse'],
    ['it twice', 'Bearer correct horse, Bearer correct horse'],
  ])('%s is not enough', async (_, authorization) => {
    // The page is the console, which asks for the token: it contains nothing that the package does not.
    const refused = { bus: 401, otel: 401, channel: 404, call: 401, page: 200, health: 200 };
    expect(await everyDoor(engine.url, { Authorization: authorization })).toEqual(refused);
  });

  test.each(['Bearer correct horse', 'bearer correct horse'])('%s opens every door', async (authorization) => {
    expect(await everyDoor(engine.url, { Authorization: authorization })).toEqual(ADMITTED);
  });

  test('bus.P13 the refusal is a challenge, at the upgrade and in a request', async () => {
    expect(await upgrade(engine.url)).toEqual({
      status: 401,
      headers: {
        connection: 'close',
        'www-authenticate': 'Bearer',
        'content-type': 'text/plain; charset=utf-8',
        'content-length': '48',
      },
      body: 'send the header "Authorization: Bearer <token>"\n',
    });
    const { headers, body } = await request(engine.url, '/functions/x');
    expect([headers['www-authenticate'], JSON.parse(body)]).toEqual([
      'Bearer',
      { error: { code: 'unauthorized', message: 'send the header "Authorization: Bearer <token>"' } },
    ]);
  });

  test.each([
    '/console/../functions',
    '/console/%2e%2e/functions',
    '/console/..\\\\functions',
    '//functions',
    '/functions',
  ])('GET %s is not the console', async (path) => {
    expect((await request(engine.url, path)).status).toBe(401);
  });

  const offering = (token: string) => `workcell, bearer.${Buffer.from(token).toString('base64url')}`;
  test('a page gives the token as a subprotocol, and only the right one opens the bus', async () => {
    const status = async (token: string) =>
      (await upgrade(engine.url, { 'Sec-WebSocket-Protocol': offering(token) })).status;
    expect([await status('correct horse'), await status('wrong horse'), await status('')]).toEqual([101, 401, 401]);
  });

  test('the token does not make a foreign page welcome', async () => {
    const headers = { Authorization: 'Bearer correct horse', Origin: 'https://evil.example' };
    expect(await everyDoor(engine.url, headers)).toEqual(REFUSED);
  });

  test('the token is not taken from the address', async () => {
    expect((await upgrade(`${engine.url}/?token=correct%20horse&access_token=correct%20horse`)).status).toBe(401);
  });

  test('a client with the token works, and one without gets the reason', async () => {
    const bus = await connect(engine.url, { token: 'correct horse' });
    expect(await bus.call('engine::workers::list')).toMatchObject({ workers: [{ pid: process.pid }] });
    bus.close();
    await expect(connect(engine.url)).rejects.toMatchObject({
      code: 'connection_failed',
      message: `${engine.url} refused the connection with HTTP 401`,
    });
  });

  test('a channel asks for its key and not for the token, since clients send the token to the bus only', async () => {
    const bus = await connect(engine.url, { token: 'correct horse' });
    const { reader } = await bus.createChannel();
    const end = `${engine.url}/ws/channels/${reader.channel_id}?dir=read`;
    expect((await upgrade(`${end}&key=wrong`, { Authorization: 'Bearer correct horse' })).status).toBe(404);
    expect((await upgrade(`${end}&key=${reader.access_key}`)).status).toBe(101);
    bus.close();
  });
});

describe('the telemetry door', async () => {
  const engine = await startEngine({ limits: { pingIntervalMs: 50, idleMs: 300 } });
  afterAll(() => engine.server.close());

  test('takes frames of the bus without acting on them', async () => {
    using sink = await Peer.open(`${engine.url}/otel`);
    sink.send({ type: 'registerfunction', id: 'evil::fn' });
    sink.send({ type: 'invokefunction', invocation_id: '1', function_id: 'engine::workers::list', data: {} });
    sink.socket.send(Buffer.from('OTLP{}'));
    sink.socket.ping('still there');
    const [echo] = (await once(sink.socket, 'pong', { signal: AbortSignal.timeout(30_000) })) as [Buffer];

    const bus = await connect(engine.url);
    expect([sink.frames, echo.toString()]).toEqual([[], 'still there']);
    expect(await bus.call('engine::functions::list')).toEqual({ functions: [] });
    bus.close();
  });

  test('reads past messages of any size and in any pieces', async () => {
    using sink = await Peer.open(`${engine.url}/otel`);
    for (const bytes of [0, 125, 126, 65_535, 65_536, 5 * 1024 * 1024]) sink.socket.send(Buffer.alloc(bytes, 0x89));
    for (const piece of ['one', 'two', 'three']) sink.socket.send(piece, { fin: piece === 'three' });
    // A masked ping without a payload, a byte at a time.
    for (const byte of [0x89, 0x80, 1, 2, 3, 4]) sink.raw.write(Buffer.from([byte]));
    await once(sink.socket, 'pong', { signal: AbortSignal.timeout(30_000) });
    sink.socket.close(1000);
    expect(await sink.closed).toBe(1000);
  });

  test.each([
    ['a frame that is not masked', [0x82, 0x01, 0x00]],
    ['a ping of 126 bytes', [0x89, 0xfe, 0, 126, 1, 2, 3, 4]],
  ])('ends at %s', async (_, bytes) => {
    using sink = await Peer.open(`${engine.url}/otel`);
    sink.raw.write(Buffer.from(bytes));
    expect(await sink.closed).toBe(1002);
  });

  test('ends a peer that is silent, keeps one that answers pings, and says goodbye', async () => {
    const closing = await startEngine({ limits: { pingIntervalMs: 50, idleMs: 300 } });
    using polite = await Peer.open(`${closing.url}/otel`);
    using silent = await Peer.open(`${closing.url}/otel`, { autoPong: false });
    expect(await silent.closed).toBe(1006);
    expect(polite.socket.readyState).toBe(polite.socket.OPEN);
    await closing.server.close();
    expect(await polite.closed).toBe(1001);
  });

  test.each([
    ['a POST', 'POST', {}],
    ['no key', 'GET', { 'Sec-WebSocket-Key': undefined }],
    ['an invalid key', 'GET', { 'Sec-WebSocket-Key': 'x' }],
    ['another version', 'GET', { 'Sec-WebSocket-Version': '8' }],
    ['another protocol', 'GET', { Upgrade: 'h2c' }],
  ])('takes no handshake with %s', async (_, method, headers) => {
    const { status } = await request(engine.url, '/otel', { ...upgradeHeaders, ...headers }, method);
    expect(status).toBe(400);
  });
});

describe('invalid requests', async () => {
  const engine = await startEngine({ limits: { handshakeMs: 300 } });
  afterAll(() => engine.server.close());
  const { port } = engine.server;

  test.each([
    ['//', 400],
    ['//evil.example/', 101],
    ['/..', 101],
    ['/../../etc/passwd', 404],
    ['/%zz', 404],
    ['/%00', 404],
    ['/ws/channels/', 404],
    ['/ws/channels/%zz?key=%zz&dir=%zz', 404],
    ['/ws/channels/a/b?key=k&dir=read', 404],
    ['/otel/', 404],
    ['/OTEL', 404],
    ['/nothing', 404],
    ['http://[', 400],
    ['*', 404],
  ])('an upgrade to %j is answered with %i', async (target, status) => {
    expect((await request(engine.url, target, upgradeHeaders)).status).toBe(status);
  });

  test.each([
    ['a path of 8,000 characters', 404, `/${'a'.repeat(8_000)}`],
    ['a query of 12,000 characters', 101, `/?${'a=b&'.repeat(3_000)}`],
    ['a path of 20,000 characters', 431, `/${'a'.repeat(20_000)}`],
  ])('an upgrade to %s is answered with %i', async (_, status, target) => {
    expect((await request(engine.url, target, upgradeHeaders)).status).toBe(status);
  });

  test.each(['/', '//', '/nothing', '/%zz', 'http://[', '*', '/ws/channels/x', '/otel'])(
    'a plain HTTP request to %j is answered with 404',
    async (target) => {
      expect((await request(engine.url, target)).status).toBe(404);
    },
  );

  test.each([
    ['no HTTP', 400, 'hello\r\n\r\n'],
    ['TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a header without a name', 400, 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    [
      'a request with two lengths',
      400,
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    [
      'a request with a length and chunks',
      400,
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['a proxy request', 0, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    [
      'an upgrade to something else',
      400,
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    ],
    [
      'an upgrade without a key',
      400,
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
    ],
    [
      'an upgrade by POST',
      405,
      'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
  ])('%s is answered with %i', async (_, status, bytes) => {
    expect((await exchange('127.0.0.1', port, bytes)).status).toBe(status);
  });

  test.each([
    ['nothing', ''],
    ['half a request', 'GET / HTTP/1.1\r\nHost: local'],
    ['half an upgrade', 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('a connection that sends %s is closed after its time', async (_, bytes) => {
    expect((await exchange('127.0.0.1', port, bytes)).status).toBe(408);
  });

  test('a header a second does not buy more time', async () => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write(`X-${Date.now()}: 1\r\n`), 50);
    socket.on('error', () => {});
    await once(socket.resume(), 'close', { signal: AbortSignal.timeout(30_000) });
    clearInterval(drip);
  });

  test('the engine still answers after all that', async () => {
    using peer = await Peer.dial(engine.url);
    await peer.settled();
  });
});

test('a refused peer that keeps its side open holds neither a socket nor the shutdown', async () => {
  const engine = await startEngine();
  const socket = connectTcp({ port: engine.server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await once(socket.resume(), 'end', { signal: AbortSignal.timeout(30_000) });

  let isClosed = false;
  void engine.server.close().then(() => (isClosed = true));
  await expect.poll(() => isClosed).toBe(true);
  socket.destroy();
});

test('closing sends every peer a close and does not wait long', async () => {
  const engine = await startEngine();
  using polite = await Peer.dial(engine.url);
  using deaf = await Peer.dial(engine.url);
  deaf.socket.pause();
  const idle = connectTcp(engine.server.port, '127.0.0.1');
  await once(idle, 'connect');

  const closing = engine.server.close();
  expect(await polite.closed).toBe(1001);
  await closing;
  idle.destroy();
});
