/** Nodes that may not join: another has their name or their id, or their server is too small; and clusters side by side. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeUsers } from '#cluster';
import { silentLog } from '#contract';
import { isFull, tempDir, type TempDir } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { CutNetwork } from './support/cut.ts';
import { addWorker, startNode, untilKnown, type NodeOptions, type TestNode } from './support/nodes.ts';

describe.skipIf(NO_NATS)('nodes that may not join (needs nats-server)', () => {
  let nats: NatsServers;
  let dir: TempDir;
  let door: TestNode;
  let host: TestNode;

  // With users that may use only their names: a host may ask as well.
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
    // A node of the test before leaves the list a moment after its end.
    await expect.poll(() => door.cluster.nodes().map(({ name }) => name)).toEqual(['door', 'host']);
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

  test('cluster.X27 a node that drew the id of another draws again before it announces anything', async () => {
    const draws = [host.cluster.self.id, door.cluster.self.id, '600df00d'];
    const before = names();
    const running = door.bus.call('work::once', { key: 'drawn', ms: 500 }, { namespace: 'host' });
    await expect.poll(() => host.ran.get('drawn')).toBe(1);
    await using other = await startHost('other', { draw: () => draws.shift()! });
    expect(await running).toEqual({ key: 'drawn', by: 'host' });
    await untilKnown(door, 'other');
    expect(names()).toEqual([...before, 'other 600df00d']);
    expect(await door.bus.call('work::once', { key: 'o1' }, { namespace: 'other' })).toEqual({
      key: 'o1',
      by: 'other',
    });
    expect((await other.bus.createChannel()).reader.channel_id.slice(0, 8)).toBe('600df00d');
  });

  test('cluster.X27 it is refused when a sandbox or a channel has the id already, and when every draw is taken', async () => {
    const { name, id } = host.cluster.self;
    const report = { places: 0, starting: 0, living: 1, max: 1, memory_free_mb: 0, images: [] };
    const uses: [number, NodeOptions['beforeJoin']][] = [
      [1, (_, engine) => void engine.channels.create()],
      [1, (ownNode) => void ownNode.offer(() => report)],
      [5, () => {}],
    ];
    for (const [most, beforeJoin] of uses) {
      let draws = 0;
      await unnoticed(`taken ${uses.findIndex((use) => use[1] === beforeJoin)}`, () =>
        expect(startHost('other', { draw: () => (draws++, id), beforeJoin })).rejects.toMatchObject({
          code: 'node_id_taken',
          message: `node ${name} of this cluster has the id ${id}, too: start again for another id`,
        }),
      );
      expect(draws).toBe(most);
    }
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

describe.skipIf(NO_NATS)('servers and clusters (needs nats-server)', () => {
  test('cluster.X34 a server that accepts no message of the size of a piece is refused, with its limit', async () => {
    await using nats = await NatsServers.start({ extra: 'max_payload: 65536' });
    const [address] = nats.urls.map((url) => url.replace('nats://', ''));
    await expect(startNode(nats.urls, 'a')).rejects.toMatchObject({
      name: 'ConfigError',
      message: `the NATS server at ${address} accepts messages of 65536 bytes: set its max_payload to at least 528384`,
    });
  });

  test('cluster.P31 nodes of another cluster at the same server are not seen, also under the same name', async () => {
    await using nats = await NatsServers.start();
    const join = (cluster: string, name: string) =>
      startNode(nats.urls, name, { cluster, aliases: [`${cluster}-only`] });
    await using blue = await join('blue', 'one');
    await using other = await join('blue', 'two');
    await using green = await join('green', 'one');
    await using last = await join('green', 'three');
    await addWorker(blue.engine, { 'paint::mix': () => 'blue' });
    await addWorker(last.engine, { 'paint::mix': () => 'green' });
    await Promise.all([untilKnown(blue, 'two'), untilKnown(other, 'one'), untilKnown(green, 'three')]);
    const names = ({ cluster }: TestNode) => cluster.nodes().map(({ name }) => name);
    expect([blue, other, green, last].map((node) => names(node).toSorted().join())).toEqual([
      ...['one,two', 'one,two'],
      ...['one,three', 'one,three'],
    ]);
    const mix = ({ bus }: TestNode) => bus.call('paint::mix').catch(() => 'none');
    await expect.poll(() => Promise.all([other, green].map(mix))).toEqual(['blue', 'green']);
    for (const namespace of ['two', 'blue-only']) {
      const call = green.bus.call('work::once', { key: 'x' }, { namespace });
      await expect(call).rejects.toMatchObject({ code: 'function_not_found' });
    }
    expect(await green.bus.call('work::once', { key: 'g' }, { namespace: 'three' })).toEqual({ key: 'g', by: 'three' });
    expect([blue, other].map(({ ran }) => ran.size)).toEqual([0, 0]);
  });
});
