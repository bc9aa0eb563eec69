/**
 * Nodes that hang, that the network cuts off, and a cluster of NATS that is split.
 *
 * They wait for leases most of the time, so they run side by side, each with servers of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, test } from 'vitest';

import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { CutNetwork } from './support/cut.ts';
import { NodeProcess, untilKnown as untilProcessKnows, verdict, type Storm } from './support/node-process.ts';
import { startNode, untilKnown, type TestNode } from './support/nodes.ts';

const COUNT = rounds(500, 10_000, 200_000);
const PATIENCE_MS = rounds(60_000, 600_000, 3_600_000);
/** A server notices within seconds that the other end of a route is silent; its default is minutes. */
const NOTICES_SILENCE = 'ping_interval: "1s"\nping_max: 2';

/** Calls from before a fault until after it. */
const STORM = { isLasting: true, count: COUNT, inFlight: 16, prefix: 'storm ' };
const NO_FAULT = { answered: true, others: {}, ranAndWasReportedUnsent: 0 };

interface Answer {
  code?: string;
  result?: object;
}
const call = (node: NodeProcess, namespace: string, data: object) =>
  node.ask<Answer>('call', { id: 'work::once', namespace, data });
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: unknown) => (error as { code: string }).code,
  );

const countAt =
  ({ ran }: TestNode) =>
  async (keys: string[]) =>
    keys.filter((key) => ran.has(key)).length;
/** How often each call ran that is not of the storm; of the storm, those that ran more than once. */
const calls = ({ ran }: TestNode) =>
  Object.fromEntries([...ran].filter(([key, times]) => !key.startsWith(STORM.prefix) || times > 1));

describe.skipIf(NO_NATS).concurrent('nodes that are cut off (needs nats-server)', { timeout: PATIENCE_MS }, () => {
  test('cluster.X03, cluster.X04 a node that hangs is gone after its lease; calls of a killed node and of one that hangs are cancelled', async ({
    expect,
  }) => {
    await using nats = await NatsServers.start();
    const start = (name: string) => NodeProcess.start(name, nats.urls);
    await using caller = await start('caller');
    await using callee = await start('callee');
    await using doomed = await start('doomed');
    await using sleeper = await start('sleeper');
    await Promise.all([
      untilProcessKnows(caller, 'callee'),
      untilProcessKnows(doomed, 'caller'),
      untilProcessKnows(sleeper, 'caller'),
    ]);
    const storm = caller.ask<Storm>('storm', { ...STORM, namespace: 'callee' });
    const asleep = call(sleeper, 'caller', { key: 'asleep', ms: 60_000 });
    const hanging = call(caller, 'callee', { key: 'hangs', ms: 60_000 });
    void call(doomed, 'caller', { key: 'orphan', ms: 60_000 }).catch(() => {});
    await expect.poll(() => callee.ask('isRunning', { key: 'hangs' })).toBe(true);
    for (const key of ['orphan', 'asleep']) await expect.poll(() => caller.ask('isRunning', { key })).toBe(true);
    callee.signal('SIGSTOP');
    sleeper.signal('SIGSTOP');
    doomed.signal('SIGKILL');
    expect(await hanging).toMatchObject({ code: 'invocation_stopped' });
    await expect.poll(() => caller.ask('cancelled')).toBe(2);
    callee.signal('SIGCONT');
    const again = async () => (await call(caller, 'callee', { key: 'awake' })).result;
    await expect.poll(again).toEqual({ key: 'awake', by: 'callee' });
    await caller.ask('endStorm');
    expect(await verdict(await storm, (keys) => callee.ask('countOf', { keys }))).toMatchObject(NO_FAULT);
    expect(await callee.ask('ran')).toMatchObject({ twice: [] });

    // The call of the caller that hung was cancelled; awake, it has one answer and calls again.
    sleeper.signal('SIGCONT');
    expect(await asleep).toMatchObject({ code: 'invocation_stopped' });
    const serves = async () => (await call(sleeper, 'caller', { key: 'up' })).result;
    await expect.poll(serves).toEqual({ key: 'up', by: 'caller' });
    expect(await caller.ask('ran')).toEqual({ count: 3, twice: [] });
  });

  test('cluster.X21 a network that swallows everything for two seconds costs no call', async ({ expect }) => {
    await using nats = await NatsServers.start();
    await using network = await CutNetwork.before(nats.urls[0]!);
    await using caller = await NodeProcess.start('caller', nats.urls);
    await using callee = await NodeProcess.start('callee', [network.url]);
    await untilProcessKnows(caller, 'callee');
    const running = caller.ask<Storm>('storm', { namespace: 'callee', count: COUNT, inFlight: 32, prefix: 'cut' });
    await sleep(100);
    network.cut();
    await sleep(2_000);
    network.heal();
    expect(await running).toMatchObject({ ok: COUNT, codes: {} });
    expect(await callee.ask('ran')).toEqual({ count: COUNT, twice: [] });
  });

  test('cluster.X22 a node cut off for longer is gone, works on, and comes back as the same node', async ({
    expect,
  }) => {
    await using nats = await NatsServers.start();
    await using network = await CutNetwork.before(nats.urls[0]!);
    await using a = await startNode(nats.urls, 'a');
    await using b = await startNode([network.url], 'b');
    await using crowd = await NodeProcess.start('crowd', nats.urls);
    await Promise.all([untilKnown(a, 'b'), untilKnown(b, 'a'), untilProcessKnows(crowd, 'b')]);
    const storm = crowd.ask<Storm>('storm', { ...STORM, namespace: 'b' });
    const before = a.cluster.nodes().find(({ name }) => name === 'b');
    const running = outcome(a.bus.call('work::once', { key: 'cut', ms: 60_000 }, { namespace: 'b' }));
    await expect.poll(() => b.ran.get('cut')).toBe(1);
    network.cut();
    expect(await running).toBe('invocation_stopped');
    expect(await outcome(a.bus.call('work::once', { key: 'gone' }, { namespace: 'b' }))).toBe('channel_send_failed');
    expect(await b.bus.call('work::once', { key: 'local' })).toEqual({ key: 'local', by: 'b' });
    await sleep(rounds(0, 4_000, 4_000));
    network.heal();
    await untilKnown(a, 'b');
    expect(await a.bus.call('work::once', { key: 'back' }, { namespace: 'b' })).toEqual({ key: 'back', by: 'b' });
    expect(a.cluster.nodes().find(({ name }) => name === 'b')).toMatchObject({ id: before!.id });
    await untilProcessKnows(crowd, 'b');
    await crowd.ask('endStorm');
    expect(await verdict(await storm, countAt(b))).toMatchObject(NO_FAULT);
    expect(calls(b)).toEqual({ cut: 1, local: 1, back: 1 });
  });

  test('cluster.X23 of a NATS cluster that is split in two each half works, and they become one again', async ({
    expect,
  }) => {
    const networks: CutNetwork[] = [];
    await using nats = await NatsServers.start({
      count: 2,
      extra: NOTICES_SILENCE,
      routeVia: async (url) => {
        networks.push(await CutNetwork.before(url));
        return networks[0]!.port;
      },
    });
    await using network = networks[0]!;
    const [one, two] = nats.urls as [string, string];
    await using a = await startNode([one], 'a');
    await using b = await startNode([two], 'b');
    await using c = await startNode([two], 'c');
    await using crowd = await NodeProcess.start('crowd', [one]);
    await Promise.all([untilKnown(a, 'b', 'c'), untilKnown(b, 'a', 'c'), untilKnown(c, 'b')]);
    await untilProcessKnows(crowd, 'b');
    const storm = crowd.ask<Storm>('storm', { ...STORM, namespace: 'b' });
    const running = outcome(a.bus.call('work::once', { key: 'split', ms: 60_000 }, { namespace: 'b' }));
    await expect.poll(() => b.ran.get('split')).toBe(1);
    network.cut();
    expect(await c.bus.call('work::once', { key: 'half' }, { namespace: 'b' })).toEqual({ key: 'half', by: 'b' });
    expect(await running).toBe('invocation_stopped');
    expect(await outcome(a.bus.call('work::once', { key: 'no' }, { namespace: 'b' }))).toBe('channel_send_failed');
    expect(await a.bus.call('work::once', { key: 'own' })).toEqual({ key: 'own', by: 'a' });
    expect(b.cluster.nodes().map(({ name, state }) => `${name} ${state}`)).toContain('c up');
    network.heal();
    await Promise.all([untilKnown(a, 'b', 'c'), untilKnown(b, 'a')]);
    expect(await a.bus.call('work::once', { key: 'one' }, { namespace: 'b' })).toEqual({ key: 'one', by: 'b' });
    await untilProcessKnows(crowd, 'b');
    await crowd.ask('endStorm');
    expect(await verdict(await storm, countAt(b))).toMatchObject(NO_FAULT);
    expect(calls(b)).toEqual({ split: 1, half: 1, one: 1 });
  });
});
