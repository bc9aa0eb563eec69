/** Calls while servers and nodes are killed and hang: each is answered once, and none runs twice. */
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess, type Storm, untilKnown } from './support/node-process.ts';
import { chaos, serverFaults } from './support/server-faults.ts';

const COUNT = rounds(1_000, 10_000, 200_000);
const CHAOS_SECONDS = rounds(3, 53, 3_600);
const PATIENCE_MS = rounds(60_000, 600_000, 2 * 3_600_000);
const IN_FLIGHT = 64;

describe.skipIf(NO_NATS)('faults between nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let caller: NodeProcess;
  let callee: NodeProcess;

  beforeAll(async () => {
    nats = await NatsServers.start({ count: 3 });
    const [one, two] = nats.urls as [string, string, string];
    // Each is at its own server and hears of the others from it: of a list it would dial any.
    [caller, callee] = await Promise.all([NodeProcess.start('caller', [one]), NodeProcess.start('callee', [two])]);
    await untilKnown(caller, 'callee');
  });
  afterAll(async () => {
    await Promise.all([caller, callee].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const storm = (prefix: string, more: object = {}) =>
    caller.ask<Storm>('storm', { namespace: 'callee', count: COUNT, inFlight: IN_FLIGHT, prefix, ...more });
  const ran = (node: NodeProcess) => node.ask<{ count: number; twice: string[] }>('ran');

  test.each([
    ['the servers of the callee and of the caller are killed in turn', () => serverFaults.killInTurn(nats, [1, 0])],
    ['all servers are killed and come back after two seconds', () => serverFaults.killAll(nats)],
    ['the server of the callee hangs', () => serverFaults.hang(nats, rounds(3_000, 8_000, 8_000))],
  ])(
    'cluster.X01 every call is answered and runs once when %s',
    async (name, fault) => {
      const before = (await ran(callee)).count;
      const running = storm(name);
      await sleep(200);
      await fault();
      expect(await running).toMatchObject({ ok: COUNT, codes: {} });
      expect(await ran(callee)).toEqual({ count: before + COUNT, twice: [] });
    },
    PATIENCE_MS,
  );

  test(
    'cluster.X02 a killed node ends the calls that it worked on, and no others',
    async () => {
      await using doomed = await NodeProcess.start('doomed', nats.urls);
      await untilKnown(caller, 'doomed');
      const running = storm('k');
      const lost = storm('l', { namespace: 'doomed', count: IN_FLIGHT });
      await expect.poll(async () => (await ran(doomed)).count).toBeGreaterThan(IN_FLIGHT / 2);
      doomed.signal('SIGKILL');
      const { ok, codes } = await lost;
      const { invocation_stopped: stopped = 0, channel_send_failed: unsent = 0, ...others } = codes;
      expect([ok + stopped + unsent, others]).toEqual([IN_FLIGHT, {}]);
      expect(await running).toMatchObject({ ok: COUNT, codes: {} });
      expect((await ran(callee)).twice).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    'cluster.X20 under mixed faults every call is answered once and none runs twice',
    async () => {
      const over = new AbortController();
      const running = storm('c', { count: undefined, seconds: CHAOS_SECONDS });
      const timer = setTimeout(() => over.abort(), (CHAOS_SECONDS - 3) * 1_000);
      expect(await chaos(nats, (signal) => callee.signal(signal), over.signal)).toBeGreaterThan(0);
      clearTimeout(timer);
      const { calls, ok, codes } = await running;
      // A node that hangs longer than its lease is gone: an hour of chaos may have that.
      const { invocation_stopped: stopped = 0, channel_send_failed: unsent = 0, ...others } = codes;
      expect([ok + stopped + unsent, others]).toEqual([calls, {}]);
      expect((await ran(callee)).twice).toEqual([]);
    },
    PATIENCE_MS,
  );
});
