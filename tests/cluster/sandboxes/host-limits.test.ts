/** Where a create goes when a host dies under it, when the cluster is full, and when it wants a kind of isolation. */
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { isFull } from '#testing';
import { CutNetwork } from '../support/cut.ts';
import { IMAGE, SandboxCluster, WHY_NOT, type Made, type SandboxNode } from '../support/sandbox-hosts.ts';

interface Row {
  name: string;
  calls_out: number;
  sandboxes?: { living: number; starting: number; places: number };
}

describe.skipIf(WHY_NOT !== undefined)(`limits of hosts (${WHY_NOT ?? 'with nats-server'})`, () => {
  let cluster: SandboxCluster;
  let door: SandboxNode;
  let a: SandboxNode;
  /** Between the host and NATS. */
  let network: CutNetwork;

  beforeAll(async () => {
    cluster = await SandboxCluster.start();
    // The first alone: it compiles the programs of the backend.
    network = await CutNetwork.before(cluster.nats.urls[0]!);
    a = await cluster.node('a', { config: { max_concurrent_sandboxes: 2 }, servers: [network.url] });
    door = await cluster.node('door', { role: 'door' });
    while ((await door.hosts()).length === 0) await sleep(50);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    const { sandboxes } = await list();
    await Promise.all(sandboxes.map(({ sandbox_id }) => door.call('sandbox::stop', { sandbox_id, wait: true })));
    while ((await row('a'))!.sandboxes!.places < 2) await sleep(50);
  });

  const list = () => door.call<{ sandboxes: Made[]; unreachable: string[] }>('sandbox::list');
  const row = async (name: string, by = door) =>
    (await by.call<{ nodes: Row[] }>('engine::nodes::list')).nodes.find((node) => node.name === name);

  /** A host that has the create and does not come to answer it. */
  async function hungHost(): Promise<SandboxNode> {
    const host = await cluster.node('doomed', { config: { max_concurrent_sandboxes: 1 } });
    await expect.poll(() => door.hosts()).toContain('doomed up');
    host.cli.child.kill('SIGSTOP');
    return host;
  }

  test('cluster.P21 a named host that is killed during a create: S300, nothing of it is listed, the next create goes elsewhere', async () => {
    const host = await hungHost();
    const named = door.failure('sandbox::create', { image: IMAGE, node: 'doomed' });
    await expect.poll(async () => (await row('doomed'))?.calls_out).toBe(1);
    host.cli.child.kill('SIGKILL');
    expect(await named).toMatchObject({ code: 'S300', message: 'host doomed was lost while the call ran' });
    expect(await door.hosts()).toEqual(['a up']);
    expect(await list()).toMatchObject({ sandboxes: [], unreachable: [] });
    expect(await door.create()).toMatchObject({ node: 'a' });
  });

  test('cluster.X39 a host that is cut off for two seconds keeps its sandboxes, and no call to them fails', async () => {
    const { sandbox_id } = await door.create();
    await door.exec(sandbox_id, 'sh', '-c', 'echo kept > /tmp/f');
    network.cut();
    const reading = door.exec(sandbox_id, 'cat', '/tmp/f');
    await sleep(2_000);
    network.heal();
    expect(await reading).toBe('kept\n');
    expect(await list()).toMatchObject({ sandboxes: [{ sandbox_id, node: 'a' }], unreachable: [] });
  });

  test.runIf(isFull)('cluster.P21 a create that named no host continues with another one', async () => {
    // The other host is full, so that the create goes to the one that hangs.
    const [kept] = await Promise.all([door.create(), door.create()]);
    await expect.poll(async () => (await row('a'))?.sandboxes?.places).toBe(0);
    const host = await hungHost();
    const moved = door.create();
    await expect.poll(async () => (await row('doomed'))?.calls_out).toBe(1);
    expect((await list()).unreachable).toEqual(['doomed']);
    await door.call('sandbox::stop', { sandbox_id: kept.sandbox_id, wait: true });
    host.cli.child.kill('SIGKILL');
    expect(await moved).toMatchObject({ node: 'a' });
    expect((await list()).sandboxes.map(({ node }) => node)).toEqual(['a', 'a']);
  });

  test('cluster.P22 cluster.max_sandboxes of a door refuses what is beyond it, and takes more when there is room', async () => {
    const capped = await cluster.node('capped', { role: 'door', cluster: { max_sandboxes: 1 } });
    await expect.poll(() => capped.hosts()).toEqual(['a up']);
    const { sandbox_id } = await capped.create();
    const refused = {
      code: 'S400',
      message: expect.stringContaining('1 sandboxes of at most 1 (cluster.max_sandboxes)'),
    };
    expect(await capped.failure('sandbox::create', { image: IMAGE })).toMatchObject(refused);
    await expect.poll(async () => (await row('a', capped))?.sandboxes?.living).toBe(1);
    expect(await capped.failure('sandbox::create', { image: IMAGE })).toMatchObject(refused);
    expect(await door.create()).toMatchObject({ node: 'a' });
    const { sandboxes } = await list();
    for (const made of sandboxes) await door.call('sandbox::stop', { sandbox_id: made.sandbox_id, wait: true });
    expect(sandboxes.map((made) => made.sandbox_id)).toContain(sandbox_id);
    await expect.poll(() => capped.create().then(({ node }) => node, String)).toBe('a');
  });

  test('a sandbox::run takes one slot of its host for as long as it runs', async () => {
    const code = 'until [ -e /tmp/go ]; do sleep 0.1; done';
    const run = door.call('sandbox::run', { image: IMAGE, lang: 'shell', code });
    await expect.poll(async () => (await row('a'))?.sandboxes?.living).toBe(1);
    const [running] = (await list()).sandboxes;
    expect(await door.create()).toMatchObject({ node: 'a' });
    await door.exec(running!.sandbox_id, 'touch', '/tmp/go');
    expect(await run).toMatchObject({ exit_code: 0, node: 'a' });
  });

  test.runIf(isFull)(
    'cluster.P23 a create with an isolation that no host has is refused, also by one that did not report its own',
    async () => {
      await cluster.node('fresh');
      await expect.poll(() => door.hosts()).toContain('fresh up');
      const refused = await door.failure('sandbox::create', { image: IMAGE, isolation: 'hardware-vm' });
      expect(refused).toMatchObject({ code: 'S400', fix: { image: IMAGE, isolation: null } });
      expect((await list()).sandboxes).toEqual([]);
      expect(await door.create({ isolation: 'namespaces' })).toMatchObject({ isolation: 'namespaces' });
    },
  );

  test.runIf(isFull)(
    'cluster.P24 while NATS is away the sandboxes of a node work there; elsewhere calls wait until the node is lost, then are S300',
    async () => {
      const { sandbox_id } = await door.create({ node: 'a' });
      await cluster.nats.kill(0);
      const elsewhere = door.failure('sandbox::exec', { sandbox_id, argv: ['true'] });
      // The call may fail only when the door has lost the node, so no state of it is listed by then.
      const hostsAtFailure = elsewhere.then(() => door.hosts());
      expect(await door.hosts()).toContain('a up');
      expect(await a.exec(sandbox_id, 'echo', 'alive')).toBe('alive\n');
      expect(await elsewhere).toMatchObject({
        code: 'S300',
        message: expect.stringMatching(/^host a (is not reachable|was lost while the call ran)$/),
      });
      expect((await hostsAtFailure).filter((host) => host.startsWith('a '))).toEqual([]);
      expect(await list()).toMatchObject({ sandboxes: [], unreachable: [] });
      // The door lost NATS; the node kept its sandbox all the time.
      expect(await a.exec(sandbox_id, 'echo', 'alive')).toBe('alive\n');
      await cluster.nats.restart(0);
      await expect.poll(() => door.exec(sandbox_id, 'echo', 'back').catch(String)).toBe('back\n');
    },
  );
});
