/** Real DNS lookups and connections, with a name server and servers of this machine. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { openNetwork } from './network.ts';

const { signal } = new AbortController();

interface NameServer extends AsyncDisposable {
  readonly address: string;
  readonly asked: string[];
}

/** Answers each kind of record with the bytes of one address, or with an empty answer. */
async function startNameServer(records: Record<number, Buffer> | 'silent'): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, from) => {
    const end = query.indexOf(0, 12);
    const kind = query.readUInt16BE(end + 1);
    asked.push(
      `${query
        .subarray(13, end)
        .toString('latin1')
        .replaceAll(/[^a-z0-9-]/g, '.')} ${kind}`,
    );
    if (records === 'silent') return;
    const address = records[kind];
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(address ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const answer = address ? [Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 9, 0, address.length]), address] : [];
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...answer]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}

const A = 1;
const AAAA = 28;

test('looks a name up once per address family and returns normalized addresses', async () => {
  const mapped = Buffer.from('00000000000000000000ffff7f000001', 'hex');
  await using names = await startNameServer({ [A]: Buffer.from([93, 184, 215, 14]), [AAAA]: mapped });
  const network = openNetwork({ nameServers: [names.address] });
  expect(await network.lookup('site.test', signal)).toEqual(['93.184.215.14', '127.0.0.1']);
  expect(names.asked.toSorted()).toEqual([`site.test ${A}`, `site.test ${AAAA}`]);
});

test('a name without an address fails', async () => {
  await using names = await startNameServer({});
  const network = openNetwork({ nameServers: [names.address] });
  await expect(network.lookup('nothing.test', signal)).rejects.toThrow('nothing.test has no address');
});

test('aborting the signal ends the wait for a silent name server', async () => {
  await using names = await startNameServer('silent');
  const network = openNetwork({ nameServers: [names.address] });
  const given = new AbortController();
  const asking = network.lookup('slow.test', given.signal);
  await expect.poll(() => names.asked.length).toBeGreaterThan(0);
  given.abort();
  await expect(asking).rejects.toThrow('slow.test has no address');
});

test('dials the addresses in turn until one answers', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = await openNetwork().dial(['::1', '127.0.0.1'], port, signal);
  expect(socket.remoteAddress).toBe('127.0.0.1');
  socket.destroy();
  server.close();
  await expect(openNetwork().dial(['127.0.0.1'], port, signal)).rejects.toThrow();
});

test('a connection outlives the signal that limited its dial', async () => {
  const server = createServer((peer) => peer.pipe(peer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const inTime = new AbortController();
  const socket = await openNetwork().dial(['127.0.0.1'], (server.address() as AddressInfo).port, inTime.signal);
  inTime.abort();
  socket.write('still there');
  expect(String(await once(socket, 'data'))).toBe('still there');
  socket.destroy();
  server.close();
});
