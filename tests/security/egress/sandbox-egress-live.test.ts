/**
 * The egress proxy with real sockets: a local name server that changes its answer every time, and programs that
 * send as slowly as they can. All of it is on loopback addresses.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { silentLog } from '#contract';
import { rounds } from '#testing';
import { EgressProxy } from '../../../src/egress/index.ts';
import { openNetwork } from '../../../src/egress/network.ts';
import { EgressCeiling, policyOf } from '../../../src/workers/sandbox/egress/index.ts';
import { portOf, SERVED, startEgress } from './sandbox-egress.ts';

const REBINDS = rounds(100, 400, 5000);
const SLOW = 300;
/** Requests of another sandbox meanwhile. */
const OTHERS = 20;
const A = 1;
const AAAA = 28;

vi.setConfig({ testTimeout: 120_000 });

/** The addresses of each answer: the allowed one, the denied one, both, the denied one in two other spellings. */
const ALLOWED = Buffer.from([127, 0, 0, 2]);
const SECRET = Buffer.from([127, 0, 0, 1]);
const MAPPED = Buffer.from([...Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1]);
const LOOPBACK = Buffer.from([...Array<number>(15).fill(0), 1]);
const MEANINGS: Record<number, Buffer[]>[] = [
  { [A]: [ALLOWED] },
  { [A]: [SECRET] },
  { [A]: [ALLOWED, SECRET] },
  { [A]: [ALLOWED], [AAAA]: [MAPPED] },
  { [A]: [ALLOWED], [AAAA]: [LOOPBACK] },
  { [A]: [SECRET, ALLOWED] },
];

test(`${REBINDS} answers of a name server that rebinds: no connection reaches what is not allowed`, async () => {
  let reached = 0;
  let served = 0;
  await using allowed = await listening('127.0.0.2', 0, (socket) => {
    served++;
    socket.once('data', () => socket.end(SERVED));
  });
  const port = portOf(allowed.server);
  await using secret = await listening('127.0.0.1', port, (socket) => {
    reached++;
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
  });
  let asked = 0;
  await using names = await startNameServer((kind) => MEANINGS[Math.floor(asked++ / 2) % MEANINGS.length]![kind] ?? []);
  const policy = policyOf(EgressCeiling.parse({ allow: [`rebind.test:${port}`, `127.0.0.2:${port}`] }), undefined);
  const network = openNetwork({ nameServers: [names.address] });
  const proxy = new EgressProxy({ policy, network, log: silentLog, sandboxId: 'live' });
  await using front = await listening('127.0.0.1', 0, (socket) => proxy.take(socket));

  const answers: string[] = [];
  for (let i = 0; i < REBINDS; i++) {
    const isTunnel = i % 2 === 1;
    const request = isTunnel
      ? `CONNECT rebind.test:${port} HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n`
      : `GET http://rebind.test:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
    answers.push(await ask(portOf(front.server), request));
  }
  proxy.close();
  const counts = {
    served: answers.filter((text) => text.includes('served')).length,
    refused: answers.filter((text) => text.startsWith('HTTP/1.1 403')).length,
    secret: answers.filter((text) => text.includes('secret')).length,
  };
  expect([secret.server.listening, reached, counts.secret]).toEqual([true, 0, 0]);
  expect(counts.served + counts.refused).toBe(REBINDS);
  expect(counts.served).toBe(served);
  expect(Math.min(counts.served, counts.refused)).toBeGreaterThan(REBINDS / 20);
});

test(`${SLOW} slow programs, in the head and in the body: others are served, and all are let go in the end`, async () => {
  const site = { names: { 'site.test': ['93.184.216.34'] } };
  await using slow = await startEgress({ ...site, serve: () => {}, times: { headMs: 4_000, idleMs: 4_000 } });
  await using other = await startEgress(site);
  const sockets = await Promise.all(Array.from({ length: SLOW }, () => slow.open()));
  const ended = Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve).once('end', resolve))),
  );
  const starts = [
    'GET http://site.test/ HTTP/1.1\r\nx: ',
    'POST http://site.test/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n',
    'POST http://site.test/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n100000\r\n',
  ];
  sockets.forEach((socket, i) => socket.write(starts[i % starts.length]!));
  const drip = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('y')), 100);
  const answers = [];
  for (let i = 0; i < OTHERS; i++)
    answers.push(
      await other.ask('GET http://site.test/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', { quietMs: 5 }),
    );
  expect(answers.filter((text) => text.includes('served'))).toHaveLength(OTHERS);
  expect(await slow.ask('GET http://10.0.0.1/ HTTP/1.1\r\nhost: x\r\n\r\n', { quietMs: 5 })).toContain('403');
  await passed(1000);
  clearInterval(drip);
  await ended;
  await expect.poll(() => slow.proxy.log.openConnections).toBe(0);
});

interface Listening extends AsyncDisposable {
  readonly server: Server;
}

async function listening(host: string, port: number, onSocket: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    onSocket(socket);
  }).listen(port, host);
  await once(server, 'listening');
  return {
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function ask(port: number, request: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  let answer = '';
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
  socket.write(request);
  const whole = /\r\n\r\n(served|secret|\{.*\})$/s;
  const late = AbortSignal.timeout(60_000);
  while (!whole.test(answer) && !late.aborted && !socket.destroyed) await passed(2);
  socket.destroy();
  return answer;
}

/** Answers each query anew, with a TTL of 0. */
async function startNameServer(addresses: (kind: number) => Buffer[]): Promise<AsyncDisposable & { address: string }> {
  const socket = createSocket('udp4', (query, from) => {
    const end = query.indexOf(0, 12);
    const kind = query.readUInt16BE(end + 1);
    const found = addresses(kind);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(found.length, 6);
    head.writeUInt32BE(0, 8);
    const rows = found.flatMap((address) => [
      Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, address.length]),
      address,
    ]);
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...rows]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}
