/** Writing to a job, and signals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { serveWorker, shellCases, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';

const MIB = 1_048_576;

let dir: TempDir;
let worker: ServedWorker;
beforeAll(async () => {
  dir = await tempDir();
  const more = { allowlist: [], max_concurrent_jobs: 64, denylist_patterns: [], job_retention_secs: 600 };
  worker = await serveWorker(shell, shellCases(dir.root, more));
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

async function start(script: string, more: Record<string, unknown> = { input: true }): Promise<string> {
  const payload = { command: 'sh', args: ['-c', script], ...more };
  return (await worker.call<{ job_id: string }>('shell::exec_bg', payload)).job_id;
}
const input = (job_id: string, more: Record<string, unknown>) =>
  worker.call<{ written: number; next: number }>('shell::input', { job_id, ...more });
const ended = (job_id: string, more: Record<string, unknown> = {}) =>
  worker.call<{ text: string; status: string }>('shell::output', {
    job_id,
    wait_ms: 60_000,
    until: { exit: true },
    ...more,
  });
const kill = (job_id: string, signal?: string) => worker.call('shell::kill', { job_id, ...(signal && { signal }) });

describe('input', () => {
  test('live.D9 is read line by line, and the answer begins at next', async () => {
    const job = await start('echo hello; while read -r x; do echo "got $x"; done; echo over');
    await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { pattern: 'hello' } });
    expect(await input(job, { text: 'öne\n' })).toEqual({ written: 5, next: 6 });
    const found = await worker.call('shell::output', {
      job_id: job,
      since: 6,
      wait_ms: 60_000,
      until: { pattern: 'got' },
    });
    expect(found).toMatchObject({ text: 'got öne\n' });
    await input(job, { base64: Buffer.from('two\n').toString('base64'), eof: true });
    expect(await ended(job)).toMatchObject({ text: 'hello\ngot öne\ngot two\nover\n', status: 'finished' });
  });

  test('live.D9 `stdin` comes before it', async () => {
    const job = await start('cat', { input: true, stdin: 'first ' });
    await input(job, { text: 'second', eof: true });
    expect((await ended(job)).text).toBe('first second');
  });

  test('live.D9 its end may be asked for twice; nothing is written after it', async () => {
    const job = await start('cat; exec sleep 100');
    expect(await input(job, { eof: true })).toEqual({ written: 0, next: 0 });
    expect(await input(job, { eof: true })).toEqual({ written: 0, next: 0 });
    await expect(input(job, { text: 'late' })).rejects.toMatchObject({ code: 'S221' });
    await kill(job);
  });

  test('live.D9 of a job that has ended, was started without, or closed it, is refused with the reason', async () => {
    const over = await start('exit 0');
    await ended(over);
    await expect(input(over, { text: 'x' })).rejects.toMatchObject({ code: 'S221', message: /has ended/ });
    const without = await start('exec sleep 100', {});
    await expect(input(without, { text: 'x' })).rejects.toMatchObject({ code: 'S221', message: /input: true/ });
    const closed = await start('exec 0<&-; echo closed; exec sleep 100');
    await worker.call('shell::output', { job_id: closed, wait_ms: 60_000, until: { pattern: 'closed' } });
    await expect(input(closed, { text: 'x' })).rejects.toMatchObject({ code: 'S221', message: /closed its input/ });
    await expect(input('job-x', { text: 'x' })).rejects.toMatchObject({ code: 'S220' });
    for (const job of [without, closed]) await kill(job);
  });

  test.each([
    ['both', { text: 'x', base64: 'eA==' }],
    ['nothing', {}],
    ['what is not base64', { base64: '?' }],
    ['more than 1 MiB', { text: 'x'.repeat(MIB + 1) }],
  ])('live.D9 %s is refused', async (_, more) => {
    const job = await start('exec sleep 100');
    await expect(input(job, more)).rejects.toMatchObject({ code: 'S210' });
    await kill(job);
  });
});

describe('signals', () => {
  test('live.D9 a program handles the one that is sent, and lives on', async () => {
    const job = await start(`trap 'echo caught' INT USR1; echo ready; while :; do sleep 0.05; done`);
    await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { pattern: 'ready' } });
    for (const signal of ['INT', 'USR1']) {
      expect(await kill(job, signal)).toEqual({ job_id: job, killed: false, status: 'running', signal });
    }
    const caught = await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { pattern: 'caught' } });
    expect(caught).toMatchObject({ status: 'running', matched: { by: 'pattern' } });
    expect(await kill(job)).toEqual({ job_id: job, killed: true, status: 'killed' });
  });

  test('live.D9 reaches all of its group, and a job that it ended was killed', async () => {
    const job = await start('sleep 100 | sleep 100', {});
    expect(await kill(job, 'TERM')).toMatchObject({ killed: false });
    expect(await ended(job)).toMatchObject({ status: 'killed' });
    expect(await kill(job, 'TERM')).toEqual({ job_id: job, killed: false, status: 'killed', reason: 'not running' });
  });

  test('live.D9 one that is not in the list is refused', async () => {
    const job = await start('exec sleep 100');
    await expect(kill(job, 'SEGV')).rejects.toMatchObject({ message: /signal/ });
    await kill(job);
  });
});
