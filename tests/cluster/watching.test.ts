/** Reports to the watchers of one node about the others: the console loads its list of nodes after each report. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

describe.skipIf(NO_NATS)('watching nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  beforeAll(async () => {
    nats = await NatsServers.start();
    a = await startNode(nats.urls, 'a');
  });
  afterAll(async () => {
    await a?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  test('engine::watch reports a node that joins, drains, resumes and leaves', async () => {
    const states: string[] = [];
    const watching = a.bus.stream('engine::watch');
    const listened = (async () => {
      for await (const event of watching) {
        if (!(event['what'] as string[]).includes('nodes')) continue;
        const b = a.cluster.nodes().find(({ name }) => name === 'b');
        states.push(b?.state ?? 'gone');
      }
    })().catch(() => {});
    const reported = () => states.filter((state, at) => state !== states[at - 1]);

    const b = await startNode(nats.urls, 'b');
    await untilKnown(a, 'b');
    await expect.poll(reported).toEqual(['up']);
    b.cluster.drain(true);
    await expect.poll(reported).toEqual(['up', 'draining']);
    b.cluster.drain(false);
    await expect.poll(reported).toEqual(['up', 'draining', 'up']);
    await b[Symbol.asyncDispose]();
    await expect.poll(reported).toEqual(['up', 'draining', 'up', 'gone']);
    await watching[Symbol.asyncIterator]().return?.();
    await listened;
  });
});
