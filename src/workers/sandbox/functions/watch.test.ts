/** Events of sandboxes: each once, in the order in which they happened. */
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import type { CallEvent } from '#contract';
import { CASE_PATIENCE_MS, serveSandboxes, TEST_BACKEND, whyNoSandbox, type SandboxCases } from '#testing';

vi.setConfig({ testTimeout: 3 * CASE_PATIENCE_MS });
const whyNot = await whyNoSandbox(['python']);

/** Collects the events of a watch that have a number: not the ids that changed. */
function watch(cell: SandboxCases, payload: Record<string, unknown> = {}) {
  const leaving = new AbortController();
  const heard: CallEvent[] = [];
  const onEvent = (event: CallEvent) => void (event.seq === undefined || heard.push(event));
  const options = { onEvent, signal: leaving.signal, timeoutMs: 3_000_000 };
  cell.call('sandbox::watch', payload, options).catch(() => {});
  const types = () => heard.map(({ type }) => type);
  return { heard, types, leave: () => leaving.abort() };
}

const job = (sandbox_id: string, ...argv: string[]) => ['sandbox::exec_bg', { sandbox_id, argv }] as const;
const patience = { timeout: CASE_PATIENCE_MS };

describe.skipIf(whyNot !== undefined)(`events of sandboxes${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  test('live.D15 a job and the end of its sandbox, for all, for one, and again by number', async () => {
    await using cell = await serveSandboxes();
    const all = watch(cell);
    const sandbox_id = await cell.create({ name: 'lab' });
    const other = await cell.create();
    const one = watch(cell, { sandbox_id, since_seq: 0 });
    const { job_id } = await cell.call<{ job_id: string }>(...job(sandbox_id, 'sleep', '1000'));
    await cell.call('sandbox::stop', { sandbox_id, wait: true });
    const expected = [
      { type: 'sandbox_created', sandbox_id, name: 'lab', image: 'python' },
      { type: 'job_started', sandbox_id, job_id },
      { type: 'job_ended', sandbox_id, job_id, status: 'killed', exit_code: null },
      { type: 'stopped', sandbox_id, why: 'asked', reason: 'it was stopped' },
    ];
    await expect.poll(() => one.heard, patience).toMatchObject(expected);
    await expect.poll(() => all.heard.length).toBe(5);
    expect(all.heard.filter((event) => event.sandbox_id === other)).toMatchObject([{ type: 'sandbox_created' }]);
    const numbers = all.heard.map(({ seq }) => seq as number);
    expect(numbers).toEqual([1, 2, 3, 4, 5]);
    const again = watch(cell, { since_seq: numbers[2] });
    await expect.poll(again.types).toEqual(['job_ended', 'stopped']);
    for (const { leave } of [all, one, again]) leave();
  });

  test('live.D15 one that was idle, one whose machine died, those that end with the worker', async () => {
    const cell = await serveSandboxes();
    const { heard, types } = watch(cell);
    const idle = await cell.create({ idle_timeout_secs: 1 });
    await cell.call(...job(idle, 'sleep', '1000'));
    await expect.poll(types, patience).toEqual(['sandbox_created', 'job_started', 'job_ended', 'stopped']);
    expect(heard[3]).toMatchObject({ why: 'idle', reason: 'it was stopped after 1 s without a call' });

    const before = children();
    const doomed = await cell.create();
    await cell.call(...job(doomed, 'sleep', '1000'));
    for (const pid of children().filter((child) => !before.includes(child))) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => heard.slice(6), patience)
      .toMatchObject([
        { type: 'job_ended', sandbox_id: doomed, status: 'killed' },
        { type: 'stopped', sandbox_id: doomed, why: 'died' },
      ]);
    const last = await cell.create();
    await cell.call(...job(last, 'sleep', '1000'));
    await cell.stop();
    await expect
      .poll(() => heard.slice(10), patience)
      .toMatchObject([
        { type: 'job_ended', sandbox_id: last },
        { type: 'stopped', sandbox_id: last, why: 'server' },
      ]);
    await cell[Symbol.asyncDispose]();
  });

  // gVisor's kernel ends such a program with SIGSEGV, and counts nothing.
  test.skipIf(TEST_BACKEND === 'gvisor')(
    'live.D15 a program killed for lack of memory, before its job ends',
    async () => {
      await using cell = await serveSandboxes();
      const sandbox_id = await cell.create({ memory_mb: 128, disk_mb: 64 });
      const { heard, types } = watch(cell);
      const code = 'kept = []\nwhile True: kept.append(b"x" * (1 << 20))';
      await cell.call(...job(sandbox_id, 'python3', '-c', code));
      await expect.poll(types, patience).toEqual(['job_started', 'oom', 'job_ended']);
      expect(heard[1]).toMatchObject({ sandbox_id, kills: 1 });
      await cell.call('sandbox::exec', { sandbox_id, argv: ['python3', '-c', code] }, { timeoutMs: CASE_PATIENCE_MS });
      await expect.poll(types, patience).toEqual(['job_started', 'oom', 'job_ended', 'oom']);
      await cell.call('sandbox::stop', { sandbox_id, wait: true });
      await expect.poll(types, patience).toEqual(['job_started', 'oom', 'job_ended', 'oom', 'stopped']);
    },
  );
});

/** Processes that this one started: each machine has one of them. */
function children(): number[] {
  const threads = readdirSync('/proc/self/task');
  const lists = threads.map((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'latin1'));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}
