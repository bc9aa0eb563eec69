/** Real sandboxes of a host, called at the host itself and through a door. */
import { setTimeout as sleep } from 'node:timers/promises';

import { median } from '../../statistics.mjs';
import { formatMs, time } from '../../units.mjs';
import { holding } from './holding.mjs';
import { IMAGE, SandboxNodes } from './sandbox-nodes.mjs';
import { NatsServers } from './test-parts.mjs';

const AT_HOST = 'at the host';
const THROUGH_DOOR = 'through a door';
const COMMANDS = 20;

export function throughDoor(harness) {
  return holding(async (hold) => {
    const server = hold(await NatsServers.start());
    const nodes = hold(await SandboxNodes.make());
    // The first alone: it compiles the programs of the backend.
    const host = await nodes.start('host', server.urls[0]);
    const door = await nodes.start('door', server.urls[0], '--role', 'door');
    while (!(await door('engine::nodes::list', {})).nodes.some(({ sandboxes }) => sandboxes)) await sleep(50);
    const measured = await harness.compare({
      title: 'A sandbox through a door',
      note: `Sandboxes of namespaces; host and door as the command line starts them, one server between, and a client by WebSocket. The time of a command is the median of ${COMMANDS}.`,
      base: AT_HOST,
      measures: { create: { label: 'create', unit: time }, exec: { label: 'exec', unit: time } },
      cases: {
        [AT_HOST]: () => useOne((id, request) => host(id, request, 'host')),
        [THROUGH_DOOR]: () => useOne(door),
      },
      rounds: 31,
    });
    setBar(harness, measured);
  });
}

function setBar(harness, measured) {
  const added = (measure) => {
    const atHost = measured.values(measure, AT_HOST);
    return median(measured.values(measure, THROUGH_DOOR).map((value, round) => value - atHost[round]));
  };
  const [create, exec] = [added('create'), added('exec')];
  harness.bar({
    id: 'C13',
    goal: 'a sandbox through a door: create ≤ host + 8 ms, exec ≤ host + 4 ms',
    measured: `host ${signed(create)}, host ${signed(exec)}`,
    met: create <= 8 && exec <= 4,
  });
}

const signed = (ms) => `${ms < 0 ? '-' : '+'} ${formatMs(Math.abs(ms))}`;

async function useOne(call) {
  const started = performance.now();
  const { sandbox_id } = await call('sandbox::create', { image: IMAGE });
  const create = performance.now() - started;
  const times = [];
  for (let left = COMMANDS; left > 0; left--) {
    const sent = performance.now();
    await call('sandbox::exec', { sandbox_id, argv: ['true'] });
    times.push(performance.now() - sent);
  }
  await call('sandbox::stop', { sandbox_id, wait: true });
  return { create, exec: median(times) };
}
