/** Channels whose ends are on different nodes, also while the servers between them are killed. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { ChannelPair } from '#contract';
import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

const MiB = 1024 * 1024;

describe.skipIf(NO_NATS)('channels between nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;

  beforeAll(async () => {
    nats = await NatsServers.start({ count: 3 });
    const [one, two, three] = nats.urls as [string, string, string];
    [a, b] = await Promise.all([startNode([one, two, three], 'a'), startNode([two, three, one], 'b')]);
    await Promise.all([untilKnown(a, 'b'), untilKnown(b, 'a')]);
  });
  afterAll(async () => {
    await Promise.all([a, b].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  /** Writes random bytes and returns the digests of both ends; `pause` slows the writer down. */
  async function send(
    pair: ChannelPair,
    from: TestNode,
    to: TestNode,
    { mib, pauseMs = 0 }: { mib: number; pauseMs?: number },
  ) {
    const digests = [createHash('sha256'), createHash('sha256')] as const;
    const writing = (async () => {
      const writer = await from.bus.openWriter(pair.writer);
      for (let at = 0; at < mib; at++) {
        const bytes = randomBytes(MiB);
        digests[0].update(bytes);
        await writer.write(bytes);
        if (pauseMs > 0) await sleep(pauseMs);
      }
      await writer.end();
    })();
    for await (const item of await to.bus.openReader(pair.reader)) digests[1].update(item);
    await writing;
    return digests.map((digest) => digest.digest('hex'));
  }

  test('the id of a channel begins with that of its node', async () => {
    const { reader } = await a.bus.createChannel();
    expect(reader.channel_id.slice(0, 8)).toBe(a.cluster.self.id);
  });

  test.each(['writer', 'reader'] as const)(
    'cluster.X05 a far %s moves everything while servers are killed',
    async (far) => {
      const pair = await a.bus.createChannel();
      const mib = rounds(12, 200, 2_000);
      const sending =
        far === 'writer' ? send(pair, b, a, { mib, pauseMs: 50 }) : send(pair, a, b, { mib, pauseMs: 50 });
      for (const at of [0, 1]) {
        await sleep(200);
        await nats.kill(at);
        await sleep(500);
        await nats.restart(at);
      }
      const [sent, read] = await sending;
      expect(read).toBe(sent);
    },
  );

  test('cluster.X06 a slow reader holds the writer back, and one that leaves ends it', async () => {
    const pair = await a.bus.createChannel();
    const writer = await b.bus.openWriter(pair.writer);
    const reader = await a.bus.openReader(pair.reader);
    let [written, isStopped] = [0, false];
    const writing = (async () => {
      while (written < 256) {
        await writer.write(Buffer.alloc(MiB));
        written++;
      }
    })().catch(() => (isStopped = true));
    const first = reader[Symbol.asyncIterator]();
    await first.next();
    let former = -1;
    while (former !== written) {
      former = written;
      await sleep(300);
    }
    expect(written).toBeLessThan(64);
    reader.cancel();
    await writing;
    expect(isStopped).toBe(true);
  });

  test('cluster.X07 a writer whose node leaves breaks the stream; a wrong key opens nothing', async () => {
    const c = await startNode(nats.urls, 'c');
    await untilKnown(a, 'c');
    await untilKnown(c, 'a');
    const pair = await a.bus.createChannel();
    const writer = await c.bus.openWriter(pair.writer);
    await writer.write('first');
    const reader = (await a.bus.openReader(pair.reader))[Symbol.asyncIterator]();
    expect(await reader.next()).toMatchObject({ value: 'first' });
    await c[Symbol.asyncDispose]();
    await expect(reader.next()).rejects.toThrow('broke off');

    const other = await a.bus.createChannel();
    const wrong = await b.bus.openReader({ ...other.reader, access_key: 'no' });
    await expect(wrong[Symbol.asyncIterator]().next()).rejects.toThrow('the channel is');
  });

  test('a far end is taken once, also by the node that took it', async () => {
    const pair = await a.bus.createChannel();
    const writer = await b.bus.openWriter(pair.writer);
    await writer.write('first');
    const second = await b.bus.openWriter(pair.writer);
    await expect
      .poll(() => second.write('second').then(() => 'written', String))
      .toContain(`reader of channel ${pair.writer.channel_id} is gone`);
    await writer.end();
    const items = [];
    for await (const item of await a.bus.openReader(pair.reader)) items.push(item);
    expect(items).toEqual(['first']);
  });
});
