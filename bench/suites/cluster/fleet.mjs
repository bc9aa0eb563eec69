/** One door before many hosts: sandboxes created and used at high rates. The hosts are simulated in one process. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Program } from '../../processes.mjs';
import { formatMs } from '../../units.mjs';
import { holding } from './holding.mjs';
import { NatsServers } from './test-parts.mjs';
import { cpuUsOf } from './processor.mjs';

const CREATE_MS = 100;
const EXEC_MS = 5;

const QUICK = { hosts: 50, rate: 50, seconds: 2 };
const FULL = { hosts: 1_000, rate: 1_000, seconds: 15 };

export function manyHosts(harness, size = harness.isQuick ? QUICK : FULL) {
  return holding((hold) => measureDoor(harness, hold, size));
}

async function measureDoor(harness, hold, { hosts, rate, seconds }) {
  const start = async (file, ...args) =>
    hold(await Program.start(new URL(`./fleet/${file}.mjs`, import.meta.url), ...args.map(String)));
  const server = hold(await NatsServers.start());
  const fleet = await start('hosts', server.urls[0], hosts, CREATE_MS, EXEC_MS);
  const door = await start('door', server.urls[0]);
  while ((await door.request({})).hosts < hosts) await sleep(100);
  const client = await start('client', door.ready.url);
  await client.request({ createsPerSecond: rate / 10, execsPerSecond: rate / 5, seconds: 1 });

  const measure = async (work) => {
    const before = [performance.now(), (await door.request({})).cpuUs, cpuUsOf(server.pids[0])];
    const result = await work();
    const { cpuUs, rssMb } = await door.request({});
    const after = [performance.now(), cpuUs, cpuUsOf(server.pids[0])];
    const [ms, doorUs, natsUs] = after.map((value, at) => value - before[at]);
    return { ...result, rssMb, doorShare: doorUs / 1000 / ms, natsShare: natsUs / 1000 / ms };
  };
  const idle = await measure(() => sleep(harness.isQuick ? 1_000 : 5_000));
  const load = { createsPerSecond: rate, execsPerSecond: 2 * rate, seconds };
  const { creates, execs, codes, distinct, ...busy } = await measure(() => client.request(load));
  const { refused } = await fleet.request({});
  const errors = Object.values(codes).reduce((sum, times) => sum + times, 0);

  const percent = (share) => `${Math.round(share * 100)} %`;
  harness.table({
    title: 'One door before many hosts',
    note: `${hosts} simulated hosts of one process, which answer a create after ${CREATE_MS} ms and a command after ${EXEC_MS} ms; a client by WebSocket asks for ${rate} sandboxes and runs ${2 * rate} commands a second for ${seconds} s.`,
    head: ['what', 'value'],
    rows: [
      ['sandboxes created', creates.count],
      ['errors / refusals of hosts', `${errors} / ${refused}`],
      ['create p50 / p99', `${formatMs(creates.p50)} / ${formatMs(creates.p99)}`],
      ['exec p50 / p99', `${formatMs(execs.p50)} / ${formatMs(execs.p99)}`],
      ['door: processor / memory', `${percent(busy.doorShare)} / ${busy.rssMb} MB`],
      ['NATS: processor', percent(busy.natsShare)],
      ['idle: door / NATS', `${percent(idle.doorShare)} / ${percent(idle.natsShare)}`],
    ],
  });
  const added = creates.p50 - CREATE_MS;
  harness.bar({
    id: 'C14',
    goal: '1,000 hosts, 1,000 creates/s, one door: none refused, no errors, p50 ≤ host + 10 ms, ≤ 1 core',
    measured: `${creates.count} created, ${refused} refused, ${errors} errors, + ${formatMs(added)}, ${percent(busy.doorShare)} of a core`,
    met: errors === 0 && refused === 0 && distinct === creates.count && added <= 10 && busy.doorShare <= 1,
  });
}
