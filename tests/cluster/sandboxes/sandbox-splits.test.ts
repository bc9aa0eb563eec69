/** Sandboxes of a NATS cluster that is split in two: each half works with its own, and finds the others again. */
import { expect, test } from 'vitest';

import { isFull } from '#testing';
import { CutNetwork } from '../support/cut.ts';
import { IMAGE, SandboxCluster, WHY_NOT } from '../support/sandbox-hosts.ts';

/** A server notices within seconds that the other end of a route is silent; its default is minutes. */
const NOTICES_SILENCE = 'ping_interval: "1s"\nping_max: 2';

test.skipIf(WHY_NOT !== undefined || !isFull)(
  `cluster.X40 sandboxes of the other half answer S300, and are the same afterwards (${WHY_NOT ?? 'with nats-server'})`,
  async () => {
    const networks: CutNetwork[] = [];
    const routeVia = async (url: string) => {
      networks.push(await CutNetwork.before(url));
      return networks[0]!.port;
    };
    await using cluster = await SandboxCluster.start({ count: 2, extra: NOTICES_SILENCE, routeVia });
    await using network = networks[0]!;
    const [one, two] = cluster.nats.urls as [string, string];
    const near = await cluster.node('near', { servers: [one] });
    const far = await cluster.node('far', { servers: [two] });
    for (const node of [near, far])
      await expect.poll(async () => (await node.hosts()).toSorted()).toEqual(['far up', 'near up']);
    const [here, there] = await Promise.all(['near', 'far'].map((node) => near.create({ node })));
    for (const made of [here!, there!]) await near.exec(made.sandbox_id, 'sh', '-c', 'echo kept > /tmp/f');
    const read = (node: typeof near, { sandbox_id }: { sandbox_id: string }) =>
      node.failure('sandbox::exec', { sandbox_id, argv: ['cat', '/tmp/f'] });
    const kept = { noFailure: expect.objectContaining({ stdout: 'kept\n' }) };

    network.cut();
    const lost = (name: string) => ({ code: 'S300', message: `host ${name} is not reachable` });
    await expect.poll(() => read(near, there!)).toMatchObject(lost('far'));
    await expect.poll(() => read(far, here!)).toMatchObject(lost('near'));
    expect([await read(near, here!), await read(far, there!)]).toEqual([kept, kept]);
    expect(await near.create()).toMatchObject({ node: 'near' });
    expect(await far.failure('sandbox::create', { image: IMAGE, node: 'near' })).toMatchObject({ code: 'S400' });

    network.heal();
    await expect.poll(() => read(near, there!)).toEqual(kept);
    await expect.poll(() => read(far, here!)).toEqual(kept);
    for (const node of [near, far])
      await expect.poll(async () => (await node.hosts()).toSorted()).toEqual(['far up', 'near up']);
  },
  180_000,
);
