/** One door before a thousand hosts, which one process simulates with the real messages: where its creates go. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { silentLog } from '#contract';
import { isFull } from '#testing';
import { onFleet, sandbox } from '#workers/sandbox';
import { NatsServers, NO_NATS } from '../../../src/testing/nats.ts';
import { startNode } from '../support/nodes.ts';

const COUNT = 1_000;
/** Hosts of one thousand that get something by chance alone are 632, give or take 10; of the better of two, 760. */
const LEAST_USED = 700;
const HOSTS = fileURLToPath(new URL('../../../bench/suites/cluster/fleet/hosts.mjs', import.meta.url));

test.skipIf(NO_NATS || !isFull)(
  'cluster.P30 a thousand creates on a thousand hosts: none is refused, and they are spread by the better of two (needs nats-server)',
  async () => {
    await using nats = await NatsServers.start();
    const [createMs, execMs] = ['100', '5'];
    const hosts = fork(HOSTS, [nats.urls[0]!, String(COUNT), createMs, execMs], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      await once(hosts, 'message');
      await using door = await startNode(nats.urls, 'door', { roles: ['door'] });
      const { front } = onFleet(sandbox, door.cluster.ownNode);
      const worker = await connect(door.engine.dialer(), { name: 'iii-sandbox', log: silentLog });
      worker.serve({ def: front, context: {} });
      await expect.poll(() => door.cluster.ownNode.hosts().length).toBe(COUNT);

      const create = () => door.bus.call('sandbox::create', { image: 'python' }, { timeoutMs: 30_000 });
      const made = (await Promise.all(Array.from({ length: COUNT }, create))) as { sandbox_id: string; node: string }[];
      hosts.send({});
      const [totals] = (await once(hosts, 'message')) as [object];
      expect(totals).toMatchObject({ made: COUNT, refused: 0 });
      expect(new Set(made.map(({ sandbox_id }) => sandbox_id)).size).toBe(COUNT);
      expect(new Set(made.map(({ node }) => node)).size).toBeGreaterThan(LEAST_USED);
    } finally {
      const ended = once(hosts, 'exit');
      hosts.disconnect();
      await ended;
    }
  },
);
