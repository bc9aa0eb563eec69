import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import { CASE_PATIENCE_MS, IMAGE_PATIENCE_MS, serveSandboxes, whyNoSandbox, type SandboxCases } from '#testing';

const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`the life of a sandbox${why === undefined ? '' : ` (${why})`}`, () => {
  vi.setConfig({ testTimeout: CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });

  const living = async (cell: SandboxCases) =>
    (await cell.call<{ sandboxes: { sandbox_id: string }[] }>('sandbox::list', {})).sandboxes.length;

  test('sandbox.A4 an id in another spelling, returned in the usual one', async () => {
    await using cell = await serveSandboxes();
    const id = await cell.create();
    const reply = await cell.call('sandbox::stop', { sandbox_id: id.replaceAll('-', '').toUpperCase(), wait: true });
    expect(reply).toEqual({ sandbox_id: id, stopped: true });
  });

  test.each([true, false])(
    'sandbox.E2 after stop with wait %s it is gone, and the reason is reported',
    async (wait) => {
      await using cell = await serveSandboxes();
      const sandbox_id = await cell.create();
      await cell.call('sandbox::stop', { sandbox_id, wait });
      for (const [name, fields] of [
        ['exec', { cmd: 'true' }],
        ['fs::ls', { path: '/' }],
        ['stop', {}],
      ] as const) {
        expect(await cell.failure(`sandbox::${name}`, { sandbox_id, ...fields })).toMatchObject({
          code: 'S004',
          message: `sandbox already stopped: ${sandbox_id} (it was stopped)`,
        });
      }
      const never = '00000000-0000-4000-8000-000000000000';
      expect(await cell.failure('sandbox::stop', { sandbox_id: never })).toMatchObject({ code: 'S002' });
    },
  );

  test('sandbox.E3 an idle sandbox is stopped', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create({ idle_timeout_secs: 1 });
    await expect.poll(() => living(cell), { timeout: CASE_PATIENCE_MS, interval: 200 }).toBe(0);
    expect(await cell.failure('sandbox::exec', { sandbox_id, cmd: 'true' })).toMatchObject({
      code: 'S004',
      message: expect.stringContaining('without a call'),
    });
  });

  test('sandbox.E5 one that works is not idle', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create({ idle_timeout_secs: 1 });
    expect(await cell.call('sandbox::exec', { sandbox_id, cmd: 'sleep 4' })).toMatchObject({ exit_code: 0 });
  });

  test('sandbox.E6 a command that runs when it is stopped fails at once', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create();
    const running = cell.failure('sandbox::exec', { sandbox_id, cmd: 'sleep 60' });
    await expect.poll(() => cell.call('sandbox::list', {})).toMatchObject({ sandboxes: [{ exec_in_flight: 1 }] });
    await cell.call('sandbox::stop', { sandbox_id });
    expect(await running).toMatchObject({ code: 'S004' });
  });

  test('sandbox.P1 sandbox.E8 what it wrote is gone with it', async () => {
    await using cell = await serveSandboxes();
    const first = await cell.create();
    await cell.call('sandbox::fs::write', { sandbox_id: first, path: '/home/p', content: 'x', parents: true });
    await cell.call('sandbox::stop', { sandbox_id: first, wait: true });
    const second = await cell.create();
    expect(await cell.failure('sandbox::fs::stat', { sandbox_id: second, path: '/home/p' })).toMatchObject({
      code: 'S211',
    });
  });

  test('sandbox.P1 sandbox.E9 two at once do not see each other', async () => {
    await using cell = await serveSandboxes();
    const [a, b] = [await cell.create(), await cell.create()];
    await cell.call('sandbox::fs::write', { sandbox_id: a, path: '/usr/local/q', content: 'x' });
    expect(await cell.failure('sandbox::fs::stat', { sandbox_id: b, path: '/usr/local/q' })).toMatchObject({
      code: 'S211',
    });
  });

  test('sandbox.E11 a machine that was killed from outside is noticed', async () => {
    await using cell = await serveSandboxes();
    const before = children();
    const sandbox_id = await cell.create();
    for (const pid of children().filter((child) => !before.includes(child))) kill(pid);
    await expect.poll(() => living(cell), { timeout: CASE_PATIENCE_MS }).toBe(0);
    expect(await cell.failure('sandbox::exec', { sandbox_id, cmd: 'true' })).toMatchObject({
      code: 'S004',
      message: expect.stringContaining('its machine ended'),
    });
  });

  test('all end with the worker', async () => {
    const before = children();
    const cell = await serveSandboxes();
    await Promise.all([cell.create(), cell.create()]);
    const started = () => children().filter((child) => !before.includes(child));
    expect(started()).not.toEqual([]);
    await cell[Symbol.asyncDispose]();
    expect(started()).toEqual([]);
  });
});

/** A process that helped to start the machine may have ended by itself. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

/** Processes that this one started: each machine has one of them. */
function children(): number[] {
  const threads = readdirSync('/proc/self/task');
  const lists = threads.map((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'latin1'));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number)).toSorted((a, b) => a - b);
}
