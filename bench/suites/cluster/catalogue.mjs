/** How long until a function is known on every node. */
import { median, percentile } from '../../statistics.mjs';
import { formatMs } from '../../units.mjs';
import { holding } from './holding.mjs';
import { NatsServers, NodeProcess } from './test-parts.mjs';

const NODES = 10;
const FUNCTIONS = 1_000;

export function spreadFunctions(harness) {
  return holding((hold) => measureSpreading(harness, hold));
}

async function measureSpreading(harness, hold) {
  const nats = hold(await NatsServers.start());
  const names = Array.from({ length: harness.isQuick ? 3 : NODES }, (_, at) => `n${at}`);
  const start = async (name) => hold(await NodeProcess.start(name, nats.urls));
  const nodes = await Promise.all(names.map(start));

  const delays = [];
  for (let round = 0; round < (harness.isQuick ? 2 : 20); round++) {
    const [maker, ...others] = rotated(nodes, round);
    const known = others.map((node) => node.ask('whenListed', { prefix: `new::f${round}::`, count: 1 }));
    const made = await maker.ask('serve', { ids: [`new::f${round}::a`] });
    delays.push(...(await Promise.all(known)).map((at) => at - made));
  }

  const all = { prefix: 'many::', count: nodes.length * FUNCTIONS };
  const known = nodes.map((node) => node.ask('whenListed', all));
  const ids = (name) => Array.from({ length: FUNCTIONS }, (_, at) => `many::${name}::f${at}`);
  const made = await Promise.all(nodes.map((node, at) => node.ask('serve', { ids: ids(names[at]) })));
  const everywhere = Math.max(...(await Promise.all(known))) - Math.min(...made);
  const launched = performance.timeOrigin + performance.now();
  const late = await start('late');
  const joined = (await late.ask('whenListed', all)) - launched;
  const memory = Math.max(...(await Promise.all(nodes.map((node) => node.ask('memoryMb')))));

  harness.table({
    title: 'A catalogue on every node',
    note: `${nodes.length} nodes, each a process, at one server.`,
    head: ['what', 'took'],
    rows: [
      [
        `a new function known on the others (p50 / p99 of ${delays.length})`,
        `${formatMs(median(delays))} / ${formatMs(percentile(delays, 0.99))}`,
      ],
      [`${FUNCTIONS} more on each of ${nodes.length} nodes at once, all known on all`, formatMs(everywhere)],
      ['a late joiner knows them all, from the start of its process', formatMs(joined)],
      ['memory of the largest node then', `${memory} MB`],
    ],
  });
  const [p50, p99] = [median(delays), percentile(delays, 0.99)];
  harness.bar({
    id: 'C11',
    goal: 'a new function everywhere: p50 ≤ 50 ms, p99 ≤ 500 ms',
    measured: `${formatMs(p50)}, ${formatMs(p99)}`,
    met: p50 <= 50 && p99 <= 500,
  });
  harness.bar({
    id: 'C12',
    goal: '1,000 more on each of 10 nodes ≤ 5 s; a late joiner ≤ 3 s',
    measured: `${formatMs(everywhere)}, ${formatMs(joined)}`,
    met: everywhere <= 5_000 && joined <= 3_000,
  });
}

function rotated(list, by) {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}
