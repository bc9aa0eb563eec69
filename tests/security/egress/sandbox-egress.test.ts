/**
 * The network of a sandbox against a guest that wants to reach what it may not: every attempt is refused or bounded,
 * nothing forbidden is resolved or dialled, and the process survives.
 *
 * Nothing here leaves this machine: names are made up, and every address is redirected to a server of the test.
 */
import { describe, expect, test } from 'vitest';

import { silentLog } from '#contract';
import { rounds } from '#testing';
import { EgressCeiling, EgressRequest, policyOf } from '../../../src/workers/sandbox/egress/index.ts';
import { readAuthority } from '../../../src/egress/target.ts';
import { SERVED, startEgress, type EgressLab } from './sandbox-egress.ts';

const PUBLIC = '93.184.215.14';

const connectTo = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nhost: x\r\n\r\n`;
const get = (authority: string) => `GET http://${authority}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
const statusOf = (answer: string) => /^HTTP\/1.1 (\d+)/.exec(answer)?.[1];

/** Sends a CONNECT and a GET with a whole URL: both must be refused, and nothing dialled. */
async function refusedBothWays(lab: EgressLab, authority: string): Promise<void> {
  for (const bytes of [
    connectTo(authority.includes(':') && !authority.endsWith(']') ? authority : `${authority}:443`),
    get(authority),
  ]) {
    expect([authority, statusOf(await lab.ask(Buffer.from(bytes, 'latin1')))]).toEqual([
      authority,
      expect.stringMatching(/^40[03]$/),
    ]);
  }
  expect(lab.dialled).toEqual([]);
}

const NOT_PUBLIC = [
  ...['127.0.0.1', '127.8.9.1', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
  ...['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', '198.18.0.1', '192.0.2.1', '203.0.113.9'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
  ...['::1', '::', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1', '2001::1', '3fff::1'],
  ...['2002:7f00:1::', '2002:5db8:d70e::', '64:ff9b:1::1', '100::1', '5f00::1'],
];

/** Other spellings of an IPv4 address in an IPv6 one: judged by the embedded address. */
const CARRYING = [
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '0:0:0:0:0:ffff:c0a8:101',
];

describe('a raw address', () => {
  const spellings = [
    ...NOT_PUBLIC.map((address) => (address.includes(':') ? `[${address}]` : address)),
    ...CARRYING.map((address) => `[${address}]`),
    ...['127.1', '127.0.1', '0x7f.1', '0x7f000001', '2130706433', '0177.0.0.1', '017700000001', '0', '127.0.0.1.'],
    ...['2852039166', '0xA9FEA9FE', '0251.0376.0251.0376', '[::ffff:0:127.0.0.1]', '[::127.0.0.1]'],
    // Public ones too: an address that no rule names is refused.
    ...[PUBLIC, '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]'],
  ];

  test.each(spellings)('%s is not dialled', async (spelling) => {
    await using lab = await startEgress();
    await refusedBothWays(lab, spelling);
    expect(lab.lookedUp).toEqual([]);
  });
});

describe('a name that leads where it should not', () => {
  test.each([...NOT_PUBLIC, ...CARRYING])('to %s', async (address) => {
    const { canonicalAddress } = await import('../../../src/egress/addresses.ts');
    await using lab = await startEgress({ names: { 'inside.test': [canonicalAddress(address)] } });
    await refusedBothWays(lab, 'inside.test');
  });

  test('to a public address and a private one', async () => {
    await using lab = await startEgress({ names: { 'both.test': [PUBLIC, '10.0.0.1'] } });
    await refusedBothWays(lab, 'both.test');
  });

  test('even if an entry allows just that name', async () => {
    await using lab = await startEgress({
      ceiling: { allow: ['rebind.test', '*'] },
      wanted: { allow: ['rebind.test'] },
      names: { 'rebind.test': ['127.0.0.1'] },
    });
    await refusedBothWays(lab, 'rebind.test');
  });

  test('rebinding: what was found first is what is dialled, and it is asked for once', async () => {
    let asked = 0;
    await using lab = await startEgress({ names: { 'rebind.test': () => (asked++ === 0 ? [PUBLIC] : ['127.0.0.1']) } });
    expect(await lab.ask(get('rebind.test'))).toContain('served');
    expect([lab.lookedUp, lab.dialled]).toEqual([['rebind.test'], [`${PUBLIC}:80`]]);
    expect(statusOf(await lab.ask(get('rebind.test')))).toBe('403');
    expect(lab.dialled).toEqual([`${PUBLIC}:80`]);
  });

  test('a redirect to a private host is the program’s to follow, and refused then', async () => {
    const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:8080/\r\ncontent-length: 0\r\n\r\n';
    await using lab = await startEgress({
      names: { 'site.test': [PUBLIC] },
      serve: (socket) => socket.on('data', () => socket.write(redirect)),
    });
    expect(await lab.ask(get('site.test'))).toMatch(/302[^]*127\.0\.0\.1:8080/);
    await expect(lab.ask(get('127.0.0.1:8080'))).resolves.toMatch(/^HTTP\/1.1 403/);
    expect(lab.dialled).toEqual([`${PUBLIC}:80`]);
  });
});

describe('an invalid host', () => {
  test.each([
    ...['localhost', 'LOCALHOST', 'localhost.', 'metadata', 'host.internal', 'HOST.internal.', 'x.host.internal:22'],
    ...['exa%00mple.com', 'example.com%00.evil.test', 'example..com', '.example.com', 'example.com..', '%2e'],
    ...['user@example.com', 'user:pass@example.com', 'example.com@127.0.0.1', 'example.com\\@127.0.0.1', 'a%20b.com'],
    ...[
      'example.com:0',
      'example.com:65536',
      'example.com:99999999',
      'example.com:80:80',
      'example.com:+80',
      'a:',
      ':80',
    ],
    ...[
      '[::1',
      '::1',
      '[::1]x',
      '[::1%25lo]',
      '[v1.x]',
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(127)}com`,
      '*',
      '*.com',
    ],
    ...['1.2.3.4.5', '256.1.1.1', '1.2.3.0x100', '-x.com', 'x-.com', 'xn--', 'exa\x7fmple.com'],
  ])('%j', async (host) => {
    await using lab = await startEgress();
    await refusedBothWays(lab, host);
    expect(lab.lookedUp).toEqual([]);
  });

  test.each([
    ['example.com.', 'example.com'],
    ['EXAMPLE.COM', 'example.com'],
    ['%65xample.com', 'example.com'],
    ['xn--mnchen-3ya.test', 'xn--mnchen-3ya.test'],
  ])('%j is %s and judged as that', async (spelling, name) => {
    await using lab = await startEgress({ ceiling: { deny: [name] }, names: { [name]: [PUBLIC] } });
    await refusedBothWays(lab, spelling);
    expect(lab.lookedUp).toEqual([]);
  });
});

describe('what no rule allows', () => {
  test.each([22, 25, 53, 110, 3306, 6379, 8080, 49134])('port %i', async (port) => {
    await using lab = await startEgress({ names: { 'site.test': [PUBLIC] } });
    await refusedBothWays(lab, `site.test:${port}`);
    expect(lab.lookedUp).toEqual([]);
  });

  test('500 names with secrets in them reach no name server', async () => {
    await using lab = await startEgress({ ceiling: { allow: ['good.test'] }, names: { 'good.test': [PUBLIC] } });
    for (let i = 0; i < 500; i++) {
      const answer = await lab.ask(connectTo(`secret-${i}.attacker.test:443`), { quietMs: 1 });
      expect(statusOf(answer)).toBe('403');
    }
    expect(lab.lookedUp).toEqual([]);
    expect(await lab.ask(get('good.test'))).toContain('served');
    expect(lab.lookedUp).toEqual(['good.test']);
    expect(lab.proxy.log.decisions).toHaveLength(100);
    expect(lab.proxy.log.counts).toEqual({ allowed: 1, refused: 500, failed: 0 });
  }, 60_000);

  test('an empty list is nothing at all', async () => {
    await using lab = await startEgress({ wanted: { allow: [] }, names: { 'site.test': [PUBLIC] } });
    await refusedBothWays(lab, 'site.test');
  });

  test('deny wins, by name and by the address that is found', async () => {
    const names = { 'a.site.test': [PUBLIC], 'other.test': [PUBLIC] };
    await using byName = await startEgress({ ceiling: { deny: ['*.site.test'] }, names });
    await refusedBothWays(byName, 'a.site.test');
    await using byAddress = await startEgress({ wanted: { deny: ['93.0.0.0/8'] }, names });
    await refusedBothWays(byAddress, 'other.test');
  });

  test('an address that the operator opened is not open to a call that names only a name', async () => {
    await using lab = await startEgress({
      ceiling: { allow: ['*', '10.0.0.5'] },
      wanted: { allow: ['inside.test'] },
      names: { 'inside.test': ['10.0.0.5'] },
    });
    await refusedBothWays(lab, 'inside.test');
  });

  test('a network that is wide enough to have everything in it opens nothing private', async () => {
    await using lab = await startEgress({
      ceiling: { allow: ['0.0.0.0/0:*', '[::/0]:*', '*:*'] },
      names: { 'inside.test': ['10.0.0.1'] },
    });
    await refusedBothWays(lab, 'inside.test');
    await refusedBothWays(lab, '127.0.0.1:443');
    await refusedBothWays(lab, '[fd00::1]:443');
  });

  test('sandbox.P16 calls with random lists: none reaches what the operator does not allow', () => {
    const random = numbers(3);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const hosts = ['a.test', '*.a.test', 'b.a.test', '*', '10.0.0.5', '10.0.0.0/8', '93.184.0.0/16', 'host.internal'];
    const entries = hosts.flatMap((host) => [host, `${host}:443`, `${host}:22`, `${host}:*`]);
    const targets = [
      'a.test',
      'b.a.test',
      'c.test',
      '10.0.0.5',
      '10.9.9.9',
      '93.184.1.1',
      '127.0.0.1',
      'host.internal',
    ];
    const list = () => Array.from({ length: Math.floor(random() * 4) }, () => pick(entries));
    const seen = { opened: 0, kept: 0, refused: 0 };
    for (let round = 0; round < rounds(3000, 10_000, 100_000); round++) {
      const ceiling = EgressCeiling.parse({ allow: list(), deny: random() < 0.3 ? list() : [] });
      const target = readAuthority(`${pick(targets)}:${pick([80, 443, 22])}`);
      const most = policyOf(ceiling, undefined).judge(target).isAllowed;
      try {
        const { isAllowed } = policyOf(
          ceiling,
          EgressRequest.parse({
            allow: random() < 0.5 ? ceiling.allow.slice(1) : list(),
            deny: random() < 0.3 ? list() : [],
          }),
        ).judge(target);
        expect([ceiling, target, isAllowed && !most]).toEqual([ceiling, target, false]);
        seen[isAllowed ? 'opened' : 'kept']++;
      } catch (error) {
        expect(error).toMatchObject({ code: 'S400' });
        seen.refused++;
      }
    }
    expect(Object.values(seen).every((count) => count > 20)).toBe(true);
  });
});

describe('what the operator opened', () => {
  test.each([
    ['an address', ['10.0.0.5:5432'], '10.0.0.5:5432', '10.0.0.5:5432'],
    ['a network', ['10.0.0.0/8:*'], '10.7.7.7:1234', '10.7.7.7:1234'],
    ['an IPv6 address', ['[fd00::5]:443'], '[FD00:0::5]:443', 'fd00::5:443'],
    ['a name and its address', ['db.test:5432', '10.0.0.5:5432'], 'db.test:5432', '10.0.0.5:5432'],
    ['this machine', ['host.internal:3000'], 'host.internal:3000', '127.0.0.1:3000'],
  ])('%s is dialled', async (_, allow, authority, address) => {
    await using lab = await startEgress({ ceiling: { allow }, names: { 'db.test': ['10.0.0.5'] } });
    expect(statusOf(await lab.ask(connectTo(authority)))).toBe('200');
    expect(lab.dialled).toEqual([address]);
  });

  test.each([
    ['another port', ['10.0.0.5:5432'], '10.0.0.5:5433'],
    ['another address', ['10.0.0.5:5432'], '10.0.0.6:5432'],
    ['a name with another address', ['db.test:5432', '10.0.0.6:5432'], 'db.test:5432'],
    ['a name whose address is open on another port', ['db.test:5432', '10.0.0.5:22'], 'db.test:5432'],
    ['this machine by its address', ['host.internal:3000'], '127.0.0.1:3000'],
    ['another port of this machine', ['host.internal:3000'], 'host.internal:49134'],
  ])('%s is not', async (_, allow, authority) => {
    await using lab = await startEgress({ ceiling: { allow }, names: { 'db.test': ['10.0.0.5'] } });
    await refusedBothWays(lab, authority);
  });
});

describe('requests inside requests', () => {
  const site = { names: { 'site.test': [PUBLIC] } };
  const post = (headers: string, body = '') =>
    `POST http://site.test/ HTTP/1.1\r\nhost: site.test\r\n${headers}\r\n${body}`;

  test.each([
    ['two lengths', post('content-length: 3\r\ncontent-length: 30\r\n', 'abc')],
    [
      'a length and chunks',
      post('content-length: 3\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n'),
    ],
    ['chunks that are not last', post('transfer-encoding: chunked, identity\r\n', '0\r\n\r\n')],
    ['a space before the colon', post('transfer-encoding : chunked\r\n', '0\r\n\r\n')],
    ['an invalid length', post('content-length: +3\r\n', 'abc')],
    ['a header over two lines', post('x: a\r\n b\r\n\tc: d\r\ncontent-length : 0\r\n')],
    ['a bare line feed', 'GET http://site.test/ HTTP/1.1\nhost: x\n\n'],
    ['a NUL in a header', post('x: a\0b\r\n')],
    ['a URL with a line break', 'GET http://site.test/\x0bx HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['another version', 'GET http://site.test/ HTTP/9.9\r\nhost: x\r\n\r\n'],
  ])('%s are never more than one, with the host that was judged', async (_, bytes) => {
    await using lab = await startEgress(site);
    await lab.ask(Buffer.from(bytes, 'latin1'), { end: true });
    expect(lab.received.length).toBeLessThanOrEqual(1);
    const heads = lab.received.join('').match(/^(GET|POST) /gm) ?? [];
    expect(heads.length).toBeLessThanOrEqual(1);
    const hosts = lab.received.join('').match(/^host: .*$/gim) ?? [];
    expect(hosts.filter((host) => host !== 'host: site.test')).toEqual([]);
  });

  test('a body that a GET has is one body of that GET', async () => {
    await using lab = await startEgress(site);
    const inner = 'GET /secret HTTP/1.1\r\nhost: other.test\r\n\r\n';
    const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    await lab.ask(`GET http://site.test/ HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`);
    expect(lab.received).toEqual([
      `GET / HTTP/1.1\r\nhost: site.test\r\ntransfer-encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`,
    ]);
  });

  test('the Host that the program says is not passed on, nor what concerns the proxy', async () => {
    await using lab = await startEgress(site);
    await lab.ask(
      'GET http://site.test/a?b HTTP/1.1\r\nHost: other.test\r\nHost: third.test\r\nProxy-Authorization: x\r\n' +
        'Connection: x-drop, close\r\nX-Drop: 1\r\nX-Keep: 2\r\nUpgrade: h2c\r\nTE: trailers\r\n\r\n',
    );
    const allowed = ['', 'GET /a?b HTTP/1.1\r\nhost: site.test\r\nX-Keep: 2\r\nConnection: close\r\n\r\n'];
    expect(allowed).toContain(lab.received.join(''));
  });

  test('every request of a connection is judged by itself', async () => {
    await using lab = await startEgress(site);
    const one = (host: string) => `GET http://${host}/ HTTP/1.1\r\nhost: x\r\n\r\n`;
    const answer = await lab.ask(one('site.test') + one('127.0.0.1') + one('site.test') + one('evil.test:22'), {
      answers: 4,
    });
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(lab.dialled).toEqual([`${PUBLIC}:80`, `${PUBLIC}:80`]);
  });

  test.each([
    '/',
    '*',
    'https://site.test/',
    'ftp://site.test/',
    'site.test',
    'http:///x',
    'http:site.test',
    '//site.test/',
  ])('GET %s is not a proxy request', async (url) => {
    await using lab = await startEgress(site);
    expect(statusOf(await lab.ask(`GET ${url} HTTP/1.1\r\nhost: site.test\r\n\r\n`))).toBe('400');
    expect([lab.lookedUp, lab.dialled]).toEqual([[], []]);
  });
});

describe('too much and too slow', () => {
  const site = { names: { 'site.test': [PUBLIC] } };

  test.each([
    ['headers', `GET http://site.test/ HTTP/1.1\r\nhost: x\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(100)}\r\n`],
    ['one header', `GET http://site.test/ HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`],
    ['a URL', `GET http://site.test/${'y'.repeat(1_000_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a CONNECT', connectTo(`${'y'.repeat(1_000_000)}:443`)],
    ['a method', `${'G'.repeat(1_000_000)} http://site.test/ HTTP/1.1\r\n\r\n`],
  ])('cuts off a request that does not end: %s', async (_, bytes) => {
    await using lab = await startEgress(site);
    expect(await lab.ask(bytes)).toMatch(/^(HTTP\/1.1 4(00|31)[^]*)?$/);
    expect([lab.lookedUp, lab.dialled]).toEqual([[], []]);
  });

  test('1 000 connections that say nothing are let go, and one that speaks is served meanwhile', async () => {
    await using lab = await startEgress({ ...site, times: { headMs: 3_000 } });
    const silent = await Promise.all(Array.from({ length: 1000 }, () => lab.open()));
    const closed = silent.map(
      (socket) => new Promise((resolve) => socket.resume().once('close', resolve).once('end', resolve)),
    );
    expect(await lab.ask(get('site.test'))).toContain('served');
    await Promise.all(closed);
  }, 60_000);

  test('a head that comes a letter at a time is closed', async () => {
    await using lab = await startEgress({ ...site, times: { headMs: 400 } });
    const socket = await lab.open();
    const closed = new Promise((resolve) => socket.resume().once('close', resolve).once('end', resolve));
    const drip = setInterval(() => socket.writable && socket.write('G'), 20);
    await closed;
    clearInterval(drip);
  });

  test('a connection on which nothing moves is closed', async () => {
    await using lab = await startEgress({ ...site, times: { idleMs: 300 }, serve: () => {} });
    const socket = await lab.open();
    const closed = new Promise((resolve) => socket.resume().once('close', resolve).once('end', resolve));
    socket.write(connectTo('site.test:443'));
    await closed;
    await expect.poll(() => lab.proxy.log.openConnections).toBe(0);
  });

  test.each([
    ['nothing', '', '502'],
    ['no HTTP', 'hello\r\n\r\n', '502'],
    ['a status of 0', 'HTTP/1.1 000 x\r\n\r\n', '502'],
    ['a status below all', 'HTTP/1.1 099 x\r\n\r\n', '502'],
    ['an upgrade', 'HTTP/1.1 101 x\r\nupgrade: y\r\nconnection: upgrade\r\n\r\n', '502'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(100)}`, '502'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', '502'],
    ['less than it promised', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx', '200'],
    ['invalid chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', undefined],
  ])('a server that answers %s ends that request only', async (_, bytes, status) => {
    await using lab = await startEgress({ ...site, serve: (socket) => socket.once('data', () => socket.end(bytes)) });
    expect(statusOf(await lab.ask(get('site.test')))).toBe(status);
    expect(statusOf(await lab.ask(get('127.0.0.1')))).toBe('403');
  });

  test('a server that says all it has to say first still gets what the program says', async () => {
    await using lab = await startEgress({ ...site, serve: (socket) => socket.end('bye') });
    const socket = await lab.open();
    socket.write(connectTo('site.test:443'));
    await new Promise((resolve) => socket.resume().once('end', resolve));
    socket.end(Buffer.alloc(8_000_000, 'x'));
    await expect.poll(() => lab.received[0]?.length).toBe(8_000_000);
  });

  test('a tunnel carries both ways, and the end of one is not the end of the other', async () => {
    await using lab = await startEgress({
      ...site,
      serve: (socket) => socket.once('end', () => socket.end('all of it')),
    });
    const socket = await lab.open();
    let heard = '';
    socket.on('data', (piece) => (heard += piece.toString()));
    const ended = new Promise((resolve) => socket.once('end', resolve));
    socket.end(`${connectTo('site.test:443')}${'x'.repeat(500_000)}`);
    await ended;
    expect(heard).toBe('HTTP/1.1 200 Connection established\r\n\r\nall of it');
    expect(lab.received[0]?.length).toBe(500_000);
    expect(lab.proxy.log.decisions).toMatchObject([{ verdict: 'allowed', bytesSent: 500_000, bytesReceived: 9 }]);
  });

  test('a sandbox that is stopped leaves no connection, also none of which it had ended its own direction', async () => {
    await using lab = await startEgress({ ...site, serve: () => {} });
    const [whole, half] = [await lab.open(), await lab.open()];
    whole.resume().write(connectTo('site.test:443'));
    half.resume().end(connectTo('site.test:443'));
    await expect.poll(() => lab.proxy.log.openConnections).toBe(2);
    lab.proxy.close();
    await expect.poll(() => lab.proxy.log.openConnections).toBe(0);
  });

  test('keep-alive: 200 requests on one connection', async () => {
    await using lab = await startEgress(site);
    const many = 'GET http://site.test/ HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(200);
    const answer = await lab.ask(many, { answers: 200 });
    expect(answer.match(/served/g)).toHaveLength(200);
    expect(SERVED).toContain('served');
  }, 60_000);
});

describe('what a refusal reports', () => {
  const firstLine = (answer: string) => answer.split('\r\n')[0];

  test('its reason, in the status line, by both ways to ask', async () => {
    await using lab = await startEgress({ ceiling: { allow: ['site.test'], deny: ['*.bad.test'] } });
    const lines: string[] = [];
    for (const bytes of [connectTo('example.org:443'), get('example.org'), connectTo('a.bad.test:443'), get('x y')]) {
      lines.push(firstLine(await lab.ask(bytes))!);
    }
    expect(lines).toEqual([
      'HTTP/1.1 403 egress.allow does not list example.org:443',
      'HTTP/1.1 403 egress.allow does not list example.org:80',
      'HTTP/1.1 403 egress.deny lists a.bad.test:443 by "*.bad.test"',
      'HTTP/1.1 400 Bad Request',
    ]);
  });

  test('one line of plain letters, whatever was asked for', async () => {
    await using lab = await startEgress();
    const names = [
      '\u00e9\u00ff\u0080',
      '"\\',
      `${'a.'.repeat(120)}b`,
      'x'.repeat(5000),
      '\x0b\x7f',
      '%0d%0aset-cookie:x',
    ];
    let asked = 0;
    for (const name of names) {
      for (const bytes of [connectTo(`${name}:443`), get(name)]) {
        const answer = await lab.ask(Buffer.from(bytes, 'latin1'));
        expect([name, firstLine(answer)]).toEqual([
          name,
          expect.stringMatching(/^HTTP\/1.1 (40[03]|502) [\x20-\x7e]{1,200}$/),
        ]);
        expect(answer).not.toMatch(/^set-cookie/im);
        asked++;
      }
    }
    expect(asked).toBe(12);
  });

  test('a warning for each destination, and at most ten per command', async () => {
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (text: string, fields?: object) => warned.push({ text, ...fields }) };
    await using lab = await startEgress({ ceiling: { allow: ['site.test'] }, log });
    const before = lab.proxy.log.watchRefusals();
    await lab.ask(connectTo('example.org:443'));
    await lab.ask(connectTo('example.org:443'));
    const text = 'a sandbox was refused a connection';
    const reason =
      'egress.allow does not list example.org:443. The operator can add "example.org:443" to egress.allow of iii-sandbox in the configuration.';
    expect(warned).toMatchObject([{ text, host: 'example.org', port: 443, why: reason }]);

    const during = lab.proxy.log.watchRefusals();
    for (let at = 0; at < 50; at++) await lab.ask(connectTo(`n${at}.test:443`));
    expect(before()).toHaveLength(10);
    expect(before()[0]).toEqual({ host: 'example.org:443', reason });
    expect(during().map(({ host }) => host)).toEqual(Array.from({ length: 10 }, (_, at) => `n${at}.test:443`));
  });
});

/** The same numbers every time, so that a failure can be reproduced. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
