/** Many commands at once beside background jobs, again and again: their resources are released. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

import { rounds } from '#testing';
import { JOBS, loadShell } from './shell-load.ts';

import { serveWorker, tempDir } from '#testing';
import { shell } from '#workers/shell';

const IS_SOAK = process.env.WORKCELL_SOAK === '1';
const AT_ONCE = IS_SOAK ? 200 : 50;
const JOBS = 16;
const LOAD_MS = IS_SOAK ? 60_000 : 2_000;
/** Two rounds create what is created once: threads, compiled patterns, the heap's own size. */
const WARM_UP_ROUNDS = 2;
/** Far less than one buffer a command would add up to. */
const MAX_GROWTH_BYTES = 96 * 2 ** 20;
const PATIENCE = { timeout: 15_000, interval: 100 };

/** Processes that have the text in their environment. */
function processesWith(marker: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  });
}

const openDescriptors = () => readdirSync('/proc/self/fd').length;

test.runIf(process.platform === 'linux')(
  `${AT_ONCE} commands at once and ${JOBS} jobs leak no descriptor, process or memory`,
  { timeout: LOAD_MS + 60_000 },
  async () => {
    await using dir = await tempDir();
    const marker = `load-${randomUUID()}`;
    const env = { LANG: marker };
    await using worker = await serveWorker(shell, {
      allowlist: ['sh', 'echo', 'sleep'],
      denylist_patterns: [],
      fs: { host_root: dir.root },
      max_concurrent_jobs: JOBS,
    });
    const start = async () => {
      const script = 'echo $$; sleep 600 & sleep 600';
      return (await worker.call<{ job_id: string }>('shell::exec_bg', { command: 'sh', args: ['-c', script], env }))
        .job_id;
    };
    const jobs = await Promise.all(Array.from({ length: JOBS }, start));
    const descriptorsWithJobs = openDescriptors();

    const round = async (number: number) => {
      const calls = Array.from({ length: AT_ONCE }, (_, n) =>
        worker.call<{ stdout: string }>('shell::exec', {
          command: 'sh',
          args: ['-c', `echo ${number}-${n}; sleep 600 &`],
          env,
          timeout_ms: 30_000,
        }),
      );
      const replies = await Promise.all(calls);
      expect(replies.map(({ stdout }) => stdout)).toEqual(replies.map((_, n) => `${number}-${n}\n`));
      // The oldest job is evicted for a new one.
      await worker.call('shell::kill', { job_id: jobs.shift() });
      jobs.push(await start());
    };

    for (let n = 0; n < WARM_UP_ROUNDS; n++) await round(n);
    const memoryBefore = process.memoryUsage().rss;
    const startedAt = Date.now();
    let rounds = 0;
    while (Date.now() - startedAt < LOAD_MS) await round(rounds++);

    expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(MAX_GROWTH_BYTES);
    await expect.poll(openDescriptors, PATIENCE).toBeLessThanOrEqual(descriptorsWithJobs);
    // Each job is a shell with two sleepers; nothing is left of the commands.
    await expect.poll(() => processesWith(marker).length, PATIENCE).toBe(3 * JOBS);
    const list = await worker.call<{ jobs: { id: string; status: string }[] }>('shell::list');
    expect(list.jobs.filter(({ status }) => status === 'running').map(({ id }) => id)).toEqual(jobs);

    await worker.stop();
    expect(processesWith(marker)).toEqual([]);
    if (IS_SOAK) console.log(`${rounds} rounds of ${AT_ONCE} commands in ${LOAD_MS / 1000} s`);
  },
);
