/**
 * A daemon of virtual machines for tests that kill it: some in use, one in the pool, and one that
 * boots to become a template.
 *
 * Arguments: the cache, the root of the image, and how many machines. It sends the ids of all processes that it started
 * once all of them run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

import { AgentClient } from '../../../dist/sandbox/guest/agent-client.js';
import { QemuBackend } from '../../../dist/workers/sandbox/backends/qemu/qemu-backend.js';
import { WarmPool } from '../../../dist/workers/sandbox/backends/warm-pool.js';

const [cacheDir, rootDir, count] = process.argv.slice(2);

const { signal } = new AbortController();
const pool = new WarmPool(new QemuBackend({ cacheDir, accelerator: 'tcg' }), { minIdle: 1, isMemoryLow: () => false });
await pool.sweep();

const image = { name: 'test', ref: 'test', digest: 'none', directory: async () => rootDir, env: [] };
const shape = { image, cpus: 1, memoryMb: 64, diskMb: 16 };
await pool.prepare(shape, signal);
for (let i = 0; i < Number(count); i++) {
  const machine = await pool.create(shape, { id: `daemon-${process.pid}-${i}`, signal });
  const agent = machine.agent ?? (await AgentClient.open(machine.channel, { deadlineMs: 60_000 }));
  const command = { argv: ['/bin/sleep', '1000'], env: [], cwd: '/', maxOutputBytes: 0, timeoutMs: 600_000, signal };
  agent.exec(command).catch(() => {});
}
// A machine that will not be ready when this process is killed.
pool.prepare({ ...shape, memoryMb: 65 }, signal).catch(() => {});
while (started().length < (Number(count) + 2) * 2) await passed(20);
process.send?.(started());

/** All descendants of this process, jails and their content. */
function started() {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => parentOf(pid));
  const children = (of) => parents.filter(({ parent }) => parent === of).map(({ pid }) => pid);
  return children(process.pid).flatMap((pid) => [pid, ...children(pid)]);
}

function parentOf(name) {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }];
  } catch {
    return [];
  }
}
