/** Nodes that may not join: another has their name, or the id that begins the ids of its sandboxes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeUsers } from '#cluster';
import { silentLog } from '#contract';
import { rounds, tempDir, type TempDir } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { CutNetwork } from './support/cut.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

const isFull = rounds(0, 1, 1) > 0;

describe.skipIf(NO_NATS)('nodes that may not join (needs nats-server)', () => {
  let nats: NatsServers;
  let dir: TempDir;
  let door: TestNode;
  let host: TestNode;

  // With users that are held to their names: a host may ask as well.
  beforeAll(async () => {
    const { block, seeds } = await makeUsers('default', [
      { name: 'door', isDoor: true },
      { name: 'host', isDoor: false },
      { name: 'other', isDoor: false },
    ]);
    dir = await tempDir(Object.fromEntries(seeds));
    nats = await NatsServers.start({ extra: block });
    [door, host] = await Promise.all([startNode(nats.urls, 'door', keyOf('door')), startHost('host')]);
    await untilKnown(door, 'host');
  });
  afterAll(async () => {
    await Promise.all([door, host].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  const keyOf = (name: string) => ({ nkeyFile: dir.path(name) });
  const startHost = (name: string, more: Parameters<typeof startNode>[3] = {}, servers = nats.urls) =>
    startNode(servers, name, { ...keyOf(name), roles: ['host'] }, more);
  const names = () => door.cluster.nodes().map(({ name, id }) => `${name} ${id}`);

  /** Whether a call that runs on the host, and one after it, are answered by the host as if nothing had joined. */
  async function unnoticed(key: string, join: () => Promise<unknown>) {
    const before = names();
    const running = door.bus.call('work::once', { key, ms: 500 }, { namespace: 'host' });
    running.catch(() => {});
    await expect.poll(() => host.ran.get(key)).toBe(1);
    await join();
    expect(await running).toEqual({ key, by: 'host' });
    const next = `${key} next`;
    expect(await door.bus.call('work::once', { key: next }, { namespace: 'host' })).toEqual({ key: next, by: 'host' });
    expect(names()).toEqual(before);
  }

  test('cluster.X26 a second node with the name of a live one is refused, and no call to that one notices', async () => {
    await unnoticed('name', () =>
      expect(startHost('host')).rejects.toMatchObject({
        code: 'node_name_taken',
        message: 'a node named host is in this cluster already: give --node NAME',
      }),
    );
  });

  test('cluster.X27 a node that drew the id of another is refused before it announces anything; the next draw joins', async () => {
    for (const { name, id } of [host.cluster.self, door.cluster.self]) {
      await unnoticed(`id of ${name}`, () =>
        expect(startHost('other', { id })).rejects.toMatchObject({
          code: 'node_id_taken',
          message: `node ${name} of this cluster has the id ${id}, too: start again for another id`,
        }),
      );
    }
    await using other = await startHost('other');
    await untilKnown(door, 'other');
    expect(other.cluster.self.id).not.toBe(host.cluster.self.id);
  });

  test.runIf(isFull)('cluster.X27 one that hears of NATS after its start stays out, and works by itself', async () => {
    await using network = await CutNetwork.before(nats.urls[0]!);
    network.cut();
    const errors: object[] = [];
    const log = { ...silentLog, error: (_: string, fields?: object) => void errors.push(fields ?? {}) };
    await using late = await startHost('other', { id: host.cluster.self.id, log }, [network.url]);
    await unnoticed('late', async () => {
      network.heal();
      await expect.poll(() => errors).toMatchObject([{ why: expect.stringContaining('has the id') }]);
    });
    expect(late.cluster.isUp).toBe(false);
    expect(await late.bus.call('work::once', { key: 'own' })).toEqual({ key: 'own', by: 'other' });
  });
});
