/**
 * A node that is stopped while more waits for it than its NATS server keeps: the server ends its connection, or holds back
 * the node that sends.
 */
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { isFull } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess, untilKnown, verdict, type Storm } from './support/node-process.ts';

const MiB = 1024 * 1024;
/** Below the size that is announced and fetched in pieces: it waits in the server. */
const BODY_BYTES = 100_000;
const STANDS_MS = 4_000;

interface Varz {
  slow_consumers: number;
}
interface Connz {
  connections: { pending_bytes: number }[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.skipIf(NO_NATS || !isFull)('nodes that are too slow for their NATS server (needs nats-server)', () => {
  /** Makes so many calls at once to a node that is stopped, and wakes it. */
  async function slowed({ count, serverKeeps }: { count: number; serverKeeps: number }) {
    const port = await freePort();
    await using nats = await NatsServers.start({ extra: `http: "127.0.0.1:${port}"\nmax_pending: ${serverKeeps}` });
    await using caller = await NodeProcess.start('caller', nats.urls);
    await using callee = await NodeProcess.start('callee', nats.urls);
    await untilKnown(caller, 'callee');
    const read = async <T>(page: string) => (await (await fetch(`http://127.0.0.1:${port}/${page}`)).json()) as T;
    /** The server has cut it off, or is about to: then it holds back the node that sends. */
    const isTooSlow = async () => {
      const [{ slow_consumers: cut }, { connections }] = await Promise.all([read<Varz>('varz'), read<Connz>('connz')]);
      return cut > 0 || connections.some(({ pending_bytes: pending }) => pending > serverKeeps / 2);
    };

    callee.signal('SIGSTOP');
    const storm = caller.ask<Storm>('storm', {
      ...{ namespace: 'callee', count, inFlight: count, prefix: 's', bytes: BODY_BYTES },
    });
    const stopped = sleep(STANDS_MS);
    await expect.poll(isTooSlow).toBe(true);
    await stopped;
    callee.signal('SIGCONT');
    const { ok, codes } = await storm;
    const { count: ran, twice } = await callee.ask<{ count: number; twice: string[] }>('ran');
    return { ok, codes, ran, twice, ...(await verdict(await storm, (keys) => callee.ask('countOf', { keys }))) };
  }

  test('cluster.X41 every call succeeds, and none runs twice', async () => {
    const count = 600;
    expect(await slowed({ count, serverKeeps: 32 * MiB })).toMatchObject({
      ...{ ok: count, codes: {}, ran: count, twice: [] },
    });
  });

  test('cluster.X41 with more on its way than a node keeps every call is answered, and none runs twice', async () => {
    const outcome = await slowed({ count: 1_200, serverKeeps: 64 * MiB });
    expect(outcome).toMatchObject({ answered: true, others: {}, ranAndWasReportedUnsent: 0, twice: [] });
    // The texts of 64 MiB are kept.
    expect(outcome.ok).toBeGreaterThan((64 * MiB) / BODY_BYTES - 100);
  });
});
