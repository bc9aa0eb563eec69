/** Calls while servers and nodes are killed and hang: each is answered once, and none runs twice. */
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess, type Storm } from './support/node-process.ts';

const COUNT = rounds(1_000, 10_000, 200_000);
const PATIENCE_MS = rounds(60_000, 600_000, 3_600_000);
const IN_FLIGHT = 64;

describe.skipIf(NO_NATS)('faults between nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let caller: NodeProcess;
  let callee: NodeProcess;
  const others: NodeProcess[] = [];

  beforeAll(async () => {
    nats = await NatsServers.start({ count: 3 });
  });
  beforeEach(async () => {
    const [one, two, three] = nats.urls as [string, string, string];
    // Each dials its own server first.
    [caller, callee] = await Promise.all([
      NodeProcess.start('caller', [one, two, three]),
      NodeProcess.start('callee', [two, three, one]),
    ]);
    await untilKnown(caller, 'callee');
  });
  afterEach(async () => {
    await Promise.all([caller, callee, ...others.splice(0)].map((node) => node[Symbol.asyncDispose]()));
  });
  afterAll(() => nats?.[Symbol.asyncDispose]());

  async function untilKnown(node: NodeProcess, ...names: string[]): Promise<void> {
    await expect.poll(() => node.ask<string[]>('peers'), { timeout: 30_000 }).toEqual(expect.arrayContaining(names));
  }

  const storm = (prefix: string, more: object = {}) =>
    caller.ask<Storm>('storm', { namespace: 'callee', count: COUNT, inFlight: IN_FLIGHT, prefix, ...more });
  const ranTwice = async (node: NodeProcess) => (await node.ask<{ twice: string[] }>('ran')).twice;

  const serverFaults: [string, () => Promise<void>][] = [
    [
      'the servers of the callee and of the caller are killed in turn',
      async () => {
        await killed(1);
        await killed(0);
      },
    ],
    [
      'all servers are killed and come back after two seconds',
      async () => {
        await Promise.all([0, 1, 2].map((at) => nats.kill(at)));
        await sleep(2_000);
        await Promise.all([0, 1, 2].map((at) => nats.restart(at)));
      },
    ],
    [
      'the server of the callee hangs',
      async () => {
        nats.signal(1, 'SIGSTOP');
        await sleep(rounds(3_000, 8_000, 8_000));
        nats.signal(1, 'SIGCONT');
      },
    ],
  ];
  async function killed(at: number): Promise<void> {
    await nats.kill(at);
    await sleep(1_000);
    await nats.restart(at);
  }

  test.each(serverFaults)(
    'cluster.X01 every call is answered and runs once when %s',
    async (name, fault) => {
      const running = storm(name);
      await sleep(200);
      await fault();
      expect(await running).toMatchObject({ ok: COUNT, codes: {} });
      expect(await ranTwice(callee)).toEqual([]);
      expect(await callee.ask('ran')).toMatchObject({ count: COUNT });
    },
    PATIENCE_MS,
  );

  test(
    'cluster.X02 a killed node ends the calls that it worked on, and no others',
    async () => {
      const second = await NodeProcess.start('second', nats.urls);
      others.push(second);
      await untilKnown(caller, 'second');
      const running = storm('k', { id: 'work::once', namespace: 'second' });
      const lost = storm('l', { id: 'work::once', namespace: 'callee', count: IN_FLIGHT, inFlight: IN_FLIGHT });
      await expect.poll(async () => (await callee.ask<{ count: number }>('ran')).count).toBeGreaterThan(IN_FLIGHT / 2);
      callee.signal('SIGKILL');
      const { ok, codes } = await lost;
      expect(ok + Object.values(codes).reduce((sum, count) => sum + count, 0)).toBe(IN_FLIGHT);
      expect(
        Object.keys(codes).filter((code) => !['invocation_stopped', 'channel_send_failed'].includes(code)),
      ).toEqual([]);
      expect(await running).toMatchObject({ ok: COUNT, codes: {} });
      expect(await ranTwice(second)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    'cluster.X03, cluster.X04 a node that hangs is gone after its lease; calls of a killed node are cancelled',
    async () => {
      const [second, doomed] = await Promise.all(
        ['second', 'doomed'].map((name) => NodeProcess.start(name, nats.urls)),
      );
      others.push(second!, doomed!);
      await untilKnown(doomed!, 'second');
      const call = (node: NodeProcess, namespace: string, data: object) =>
        node.ask<{ code?: string; result?: object }>('call', { id: 'work::once', namespace, data });
      const hanging = call(caller, 'callee', { key: 'hangs', ms: 60_000 });
      void call(doomed!, 'second', { key: 'orphan', ms: 60_000 }).catch(() => {});
      await expect.poll(() => callee.ask('isRunning', { key: 'hangs' })).toBe(true);
      await expect.poll(() => second!.ask('isRunning', { key: 'orphan' })).toBe(true);
      callee.signal('SIGSTOP');
      doomed!.signal('SIGKILL');
      expect(await hanging).toMatchObject({ code: 'invocation_stopped' });
      await expect.poll(() => second!.ask('cancelled')).toBe(1);
      callee.signal('SIGCONT');
      const again = async () => (await call(caller, 'callee', { key: 'awake' })).result;
      await expect.poll(again).toEqual({ key: 'awake', by: 'callee' });
    },
    PATIENCE_MS,
  );
});
