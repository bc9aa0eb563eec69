/** Faults of the servers while nodes call each other; for tests and for the benchmark. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { NatsServers } from '../../../src/testing/nats.ts';

async function killInTurn(nats: NatsServers, order: readonly number[]): Promise<void> {
  for (const at of order) {
    await nats.kill(at);
    await sleep(1_000);
    await nats.restart(at);
  }
}

async function killAll(nats: NatsServers): Promise<void> {
  const all = [0, 1, 2];
  await Promise.all(all.map((at) => nats.kill(at)));
  await sleep(2_000);
  await Promise.all(all.map((at) => nats.restart(at)));
}

async function hang(nats: NatsServers, ms: number): Promise<void> {
  nats.signal(1, 'SIGSTOP');
  await sleep(ms);
  nats.signal(1, 'SIGCONT');
}

export const serverFaults = { killInTurn, killAll, hang };

/** One fault after another until it is stopped, each undone before the next: kills and hangs of servers and of a node. */
export async function chaos(nats: NatsServers, signalNode: (signal: NodeJS.Signals) => void, stop: AbortSignal) {
  let faults = 0;
  const between = (least: number, most: number) => sleep(least + Math.random() * (most - least));
  while (!stop.aborted) {
    const at = Math.floor(Math.random() * 3);
    const kind = Math.random();
    if (kind < 0.5) {
      await nats.kill(at);
      await between(200, 1_500);
      await nats.restart(at);
    } else if (kind < 0.8) {
      nats.signal(at, 'SIGSTOP');
      await between(500, 4_000);
      nats.signal(at, 'SIGCONT');
    } else {
      signalNode('SIGSTOP');
      await between(500, 4_000);
      signalNode('SIGCONT');
    }
    faults++;
    await between(500, 2_000);
  }
  return faults;
}
