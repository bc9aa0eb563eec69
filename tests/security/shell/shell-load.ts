/** Many commands at once beside background jobs, again and again: descriptors and processes are given back. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

import { expect } from 'vitest';

import { serveWorker, tempDir } from '#testing';
import { shell } from '#workers/shell';

export const JOBS = 16;
/** Two rounds cover one-time costs: threads, compiled patterns, the heap's own size. */
const WARM_UP_ROUNDS = 2;
const PATIENCE = { timeout: 30_000, interval: 100 };

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

export interface Load {
  /** Commands of one round. */
  readonly atOnce: number;
  readonly loadMs: number;
}

/** Rounds of commands for some time; answers how much memory they left this process with. */
export async function loadShell({ atOnce, loadMs }: Load): Promise<{ growthBytes: number }> {
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
    const calls = Array.from({ length: atOnce }, (_, n) =>
      worker.call<{ stdout: string }>('shell::exec', {
        command: 'sh',
        args: ['-c', `echo ${number}-${n}; sleep 600 &`],
        env,
        timeout_ms: 30_000,
      }),
    );
    const replies = await Promise.all(calls);
    expect(replies.map(({ stdout }) => stdout)).toEqual(replies.map((_, n) => `${number}-${n}\n`));
    // The oldest job makes room for a new one.
    await worker.call('shell::kill', { job_id: jobs.shift() });
    jobs.push(await start());
  };

  for (let n = 0; n < WARM_UP_ROUNDS; n++) await round(n);
  const memoryBefore = process.memoryUsage().rss;
  const startedAt = Date.now();
  let count = 0;
  while (Date.now() - startedAt < loadMs) await round(count++);

  const growthBytes = process.memoryUsage().rss - memoryBefore;
  await expect.poll(openDescriptors, PATIENCE).toBeLessThanOrEqual(descriptorsWithJobs);
  // Each job is a shell with two sleepers; nothing is left of the commands.
  await expect.poll(() => processesWith(marker).length, PATIENCE).toBe(3 * JOBS);
  const list = await worker.call<{ jobs: { id: string; status: string }[] }>('shell::list');
  expect(list.jobs.filter(({ status }) => status === 'running').map(({ id }) => id)).toEqual(jobs);

  await worker.stop();
  expect(processesWith(marker)).toEqual([]);
  console.log(`${count} rounds of ${atOnce} commands in ${loadMs / 1000} s`);
  return { growthBytes };
}
