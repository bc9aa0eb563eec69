/** Memory of nodes while servers and a node are killed and hang: messages that wait for them do not pile up. */
import { expect, test } from 'vitest';

import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess, untilKnown, type Storm } from './support/node-process.ts';
import { chaos } from './support/server-faults.ts';

/** Finished calls are remembered for 30 seconds. */
const WARM_SECONDS = 35;
const SECONDS = rounds(35, 35, 3_600);
/** Generous: a fault may have ended a moment before, with the messages that waited for it not yet freed. */
const MOST_GROWN_MB = { keptMb: 10, rssMb: 60 };

test.skipIf(NO_NATS)(
  'cluster.X43 the memory of nodes stays flat under mixed faults (needs nats-server)',
  async () => {
    await using nats = await NatsServers.start({ count: 3 });
    const [one, two] = nats.urls as [string, string];
    await using caller = await NodeProcess.start('caller', [one]);
    await using callee = await NodeProcess.start('callee', [two]);
    await untilKnown(caller, 'callee');
    const faulty = async (prefix: string, seconds: number) => {
      const over = new AbortController();
      const storm = caller.ask<Storm>('storm', { namespace: 'callee', seconds, inFlight: 64, prefix });
      const timer = setTimeout(() => over.abort(), (seconds - 3) * 1_000);
      const faults = await chaos(nats, (signal) => callee.signal(signal), over.signal);
      clearTimeout(timer);
      const { calls } = await storm;
      expect([faults, calls].every((count) => count > 0)).toBe(true);
      const measured = (operation: string) => Promise.all([caller, callee].map((node) => node.ask<number>(operation)));
      return { keptMb: await measured('keptMb'), rssMb: await measured('memoryMb') };
    };
    const before = await faulty('a', WARM_SECONDS);
    const after = await faulty('b', SECONDS);
    console.log(`after ${WARM_SECONDS} s ${JSON.stringify(before)}; after ${SECONDS} s more ${JSON.stringify(after)}`);
    for (const kind of ['keptMb', 'rssMb'] as const) {
      const grown = after[kind].map((mb, at) => mb - before[kind][at]!);
      expect(Math.max(...grown)).toBeLessThan(MOST_GROWN_MB[kind]);
    }
  },
  (WARM_SECONDS + SECONDS + 240) * 1_000,
);
