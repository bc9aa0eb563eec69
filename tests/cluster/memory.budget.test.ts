/** Memory of nodes that call each other for longer than anything of a call is remembered. */
import { expect, test } from 'vitest';

import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess, untilKnown, type Storm } from './support/node-process.ts';

/** Finished calls are remembered for 30 seconds. */
const SECONDS = 35;
const MOST_GROWN_MB = 6;

test.skipIf(NO_NATS)(
  'cluster.X25 the memory of nodes stays flat under calls (needs nats-server)',
  async () => {
    await using nats = await NatsServers.start();
    await using caller = await NodeProcess.start('caller', nats.urls);
    await using callee = await NodeProcess.start('callee', nats.urls);
    await untilKnown(caller, 'callee');
    const storm = async (prefix: string) => {
      const { calls, ok } = await caller.ask<Storm>('storm', {
        ...{ namespace: 'callee', seconds: SECONDS, inFlight: 64, prefix },
      });
      expect(ok).toBe(calls);
      return Promise.all([caller, callee].map((node) => node.ask<number>('keptMb')));
    };
    const before = await storm('a');
    const after = await storm('b');
    expect(Math.max(...after.map((mb, at) => mb - before[at]!))).toBeLessThan(MOST_GROWN_MB);
  },
  180_000,
);
