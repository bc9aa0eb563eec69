/**
 * Throughput into a sandbox through the tunnel and the egress proxy, by rung: a large answer, and a small one from the
 * start of the program that asks.
 *
 * The server is of this machine and of this process, so its work is in the numbers too.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

import { formatNumber, time } from '../../units.mjs';
import { AgentClient } from './built.mjs';

const { EgressProxy, PROXY_PORT, proxyEnv } = await import('../../../dist/egress/index.js');
const { policyOf } = await import('../../../dist/workers/sandbox/egress/index.js');
const { silentLog } = await import('#contract');

const { signal } = new AbortController();
const LARGE_MIB = 32;
const rate = { better: 'higher', format: (value) => `${formatNumber(value)} MiB/s` };

/** `rungs` are backends with their names, prepared for the shape; its image has a shell and wget. */
export async function measureEgress(harness, rungs, shape) {
  const large = Buffer.alloc(LARGE_MIB * 2 ** 20, 'x');
  const server = createServer((asked, reply) => reply.end(asked.url === '/large' ? large : 'small'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = `host.internal:${server.address().port}`;
  const machines = [];
  try {
    for (const { name, backend } of rungs) machines.push({ name, ...(await start(backend, shape, place)) });
    const wget = (machine, path) =>
      timed(() => machine.exec(['wget', '-q', '-O', '/dev/null', `http://${place}${path}`]));
    const cases = (work) => Object.fromEntries(machines.map((machine) => [machine.name, () => work(machine)]));
    await harness.compare({
      title: `${LARGE_MIB} MiB through the egress proxy, by rung`,
      note: 'wget of busybox in a sandbox, from a server of this process.',
      base: machines[0].name,
      measures: { rate: { label: 'rate', unit: rate } },
      cases: cases(async (machine) => ({ rate: LARGE_MIB / ((await wget(machine, '/large')) / 1000) })),
      rounds: 7,
    });
    await harness.compare({
      title: 'A small request through the egress proxy, by rung',
      note: 'From the start of wget to its exit.',
      base: machines[0].name,
      measures: { time: { label: 'time', unit: time } },
      cases: cases(async (machine) => ({ time: await wget(machine, '/small') })),
      rounds: 31,
    });
  } finally {
    for (const machine of machines) await machine.stop();
    server.closeAllConnections();
    server.close();
  }
}

async function timed(work) {
  const started = performance.now();
  const { exitCode } = await work();
  if (exitCode !== 0) throw new Error(`wget: ${exitCode}`);
  return performance.now() - started;
}

let count = 0;

async function start(backend, shape, place) {
  const instance = await backend.create(shape, { id: `egress-${process.pid}-${count++}`, signal });
  const agent = instance.agent ?? (await AgentClient.open(instance.channel, { deadlineMs: 60_000 }));
  await instance.personalize?.(agent);
  const policy = policyOf({ allow: [place], deny: [] });
  const egress = new EgressProxy({ policy, log: silentLog, sandboxId: 'bench' });
  await agent.listen(PROXY_PORT, (connection) => egress.take(connection));
  const env = [['PATH', '/usr/bin:/bin'], ...proxyEnv];
  return {
    exec: (argv) => agent.exec({ argv, env, cwd: '/', maxOutputBytes: 65_536, timeoutMs: 120_000, signal }),
    async stop() {
      egress.close();
      await instance.kill();
      await instance.dispose();
    },
  };
}
