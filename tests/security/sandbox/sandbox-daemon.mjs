/**
 * A daemon of sandboxes for tests that end it. Sweeps, starts machines that run something, reports them, and continues.
 *
 * Arguments: the backend, the cache, the root of the image, how many machines, and the
 * commands in them, one after another where there are several. It sends `{ pids, outcomes }` when the commands of all have been asked for; without a count it only sweeps.
 */
import { AgentClient } from '../../../dist/sandbox/guest/agent-client.js';

const [name, cacheDir, rootDir, count, ...scripts] = process.argv.slice(2);
const [Backend] = Object.values(await import(`../../../dist/workers/sandbox/backends/${name}/${name}-backend.js`));

/** Time limit of a command that may end. */
const WAIT_MS = Number(process.env.WAIT_MS ?? 1500);

const { signal } = new AbortController();
const backend = new Backend({ cacheDir });
const probe = await backend.probe(signal);
await backend.sweep();

const image = { name: 'test', ref: 'test', digest: 'none', directory: async () => rootDir, env: [] };
const shape = { image, cpus: 1, memoryMb: 128, diskMb: 32 };
const pids = [];
const outcomes = [];
for (let i = 0; i < Number(count); i++) {
  const machine = await backend.create(shape, { id: `daemon-${process.pid}-${i}`, signal });
  const agent = await AgentClient.open(machine.channel, { deadlineMs: 60_000 });
  pids.push(machine.pid);
  const command = {
    argv: ['/bin/sh', '-c', scripts[i % scripts.length]],
    env: [['PATH', '/bin']],
    cwd: '/',
    maxOutputBytes: 100_000,
  };
  const running = agent.exec({ ...command, timeoutMs: 600_000, signal }).then(
    (outcome) => ({
      kind: 'exited',
      ...outcome,
      stdout: outcome.stdout.toString(),
      stderr: outcome.stderr.toString(),
      usage: undefined,
    }),
    async () => ({ kind: 'lost', ...(await machine.exited) }),
  );
  // A command that does not end is not awaited.
  outcomes.push(
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, WAIT_MS, { kind: 'running' }))]),
  );
}
process.send?.({ probe, pids, outcomes });
