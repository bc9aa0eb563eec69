/** Nodes of a cluster beside one engine and beside NATS alone, and their calls while parts of it fail. */
import { spreadFunctions } from './cluster/catalogue.mjs';
import { compareCalls } from './cluster/calls.mjs';
import { underFaults } from './cluster/faults.mjs';
import { manyHosts } from './cluster/fleet.mjs';
import { throughDoor } from './cluster/sandboxes.mjs';
import { NO_NATS } from './cluster/test-parts.mjs';

export const name = 'cluster';
export const description =
  'Calls and channels between nodes over a real NATS server on loopback, beside one engine by WebSocket and plain request-reply of NATS; sandboxes through a door; and what callers see while servers and nodes are killed, hang and are cut off.';

export async function run(harness) {
  if (NO_NATS) throw new Error('the suite cluster needs nats-server: put it in PATH, or its path in $NATS_SERVER');
  await compareCalls(harness);
  await spreadFunctions(harness);
  await throughDoor(harness);
  await manyHosts(harness);
  await underFaults(harness);
}
