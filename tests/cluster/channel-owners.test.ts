/** Channels whose owner, the node that made them, is killed, and a far reader that leaves: the other end notices. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { ChannelPair } from '#contract';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess } from './support/node-process.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

describe.skipIf(NO_NATS)('owners of channels (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;
  beforeAll(async () => {
    nats = await NatsServers.start();
    [a, b] = await Promise.all([startNode(nats.urls, 'a'), startNode(nats.urls, 'b')]);
    await Promise.all([untilKnown(a, 'b'), untilKnown(b, 'a')]);
  });
  afterAll(async () => {
    await Promise.all([a, b].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const failureOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

  /** Writes until that fails. */
  async function writeOn({ bus }: TestNode, { writer }: ChannelPair, onWritten = () => {}): Promise<never> {
    const end = await bus.openWriter(writer);
    for (;;) {
      await end.write('more');
      onWritten();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  test('cluster.X36 a killed owner breaks the stream of a far reader, which does not look ended, and stops a far writer', async () => {
    await using owner = await NodeProcess.start('owner', nats.urls);
    await untilKnown(a, 'owner');
    const [read, written] = await Promise.all([
      owner.ask<ChannelPair>('channel', { write: 'first' }),
      owner.ask<ChannelPair>('channel', { read: true }),
    ]);
    const reader = (await a.bus.openReader(read.reader))[Symbol.asyncIterator]();
    expect(await reader.next()).toMatchObject({ value: 'first' });
    const writing = failureOf(writeOn(a, written));
    await expect.poll(() => owner.ask<number>('itemsRead')).toBeGreaterThan(0);
    // Without a call that runs there, its silence would be noticed after the lease only.
    const running = a.bus.call('work::once', { key: 'running', ms: 600_000 }, { namespace: 'owner' });
    running.catch(() => {});
    await expect.poll(() => owner.ask('isRunning', { key: 'running' })).toBe(true);

    owner.signal('SIGKILL');
    await expect(reader.next()).rejects.toThrow();
    expect(await writing).toBeInstanceOf(Error);
    await expect(running).rejects.toMatchObject({ code: 'invocation_stopped' });
  });

  test('cluster.X37 a far reader that leaves stops the writer at the owner', async () => {
    const pair = await a.bus.createChannel();
    let written = 0;
    const writing = failureOf(writeOn(a, pair, () => void written++));
    const reader = await b.bus.openReader(pair.reader);
    expect(await reader[Symbol.asyncIterator]().next()).toMatchObject({ value: 'more' });
    reader.cancel();
    expect(await writing).toBeInstanceOf(Error);
    expect(written).toBeGreaterThan(0);
  });
});
