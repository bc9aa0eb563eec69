/** Published clients of iii at different nodes: they call each other as they would at one engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startServer, type RunningServer } from '#engine';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { connectSdk, pairs } from '../compat/support/clients.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

describe.skipIf(NO_NATS)('iii-sdk between nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let nodes: TestNode[];
  let servers: RunningServer[];
  beforeAll(async () => {
    nats = await NatsServers.start();
    nodes = await Promise.all(['a', 'b'].map((name) => startNode(nats.urls, name)));
    servers = await Promise.all(nodes.map(({ engine }) => startServer(engine, { host: '127.0.0.1', port: 0 })));
    await untilKnown(nodes[1]!, 'a');
  });
  afterAll(async () => {
    await Promise.all((nodes ?? []).map((node) => node[Symbol.asyncDispose]()));
    await Promise.all((servers ?? []).map((server) => server.close()));
    await nats?.[Symbol.asyncDispose]();
  });

  test.each(pairs)('cluster.P5 a %s worker at one node answers a %s client at another', async (one, other) => {
    await using worker = connectSdk(one, servers[0]!.url);
    await using client = connectSdk(other, servers[1]!.url);
    const id = (name: string) => `sdk${one}-${other}::${name}`.replaceAll('.', '-');
    worker.registerFunction(id('add'), async ({ a, b }: { a: number; b: number }) => ({ sum: a + b }));
    worker.registerFunction(id('fail'), async () => {
      throw new Error('as it was thrown');
    });
    await worker.settled();
    const isKnown = async () => {
      const { functions } = (await nodes[1]!.bus.call('engine::functions::list', { prefix: id('') })) as {
        functions: object[];
      };
      return functions.length;
    };
    await expect.poll(isKnown).toBe(2);

    const trigger = (name: string) => client.trigger({ function_id: id(name), payload: { a: 2, b: 3 } });
    expect(await trigger('add')).toEqual({ sum: 5 });
    await expect(trigger('fail')).rejects.toThrow('as it was thrown');
    await expect(trigger('none')).rejects.toThrow(/not found/i);
  });
});
