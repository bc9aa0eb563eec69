/** shell as the published SDKs see it: its answers, and its refusals with and without a code. */
import { describe, expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import { shellCases, startEngine, tempDir } from '#testing';
import { shell } from '#workers/shell';
import { connectSdk, versions, type SdkClient } from './support/clients.ts';

interface Setup extends AsyncDisposable {
  client: SdkClient;
}

async function setUp(version: (typeof versions)[number]): Promise<Setup> {
  const dir = await tempDir();
  const engine = await startEngine();
  const context = await shell.open(parseConfig(shell.config, shellCases(dir.root), 'shell'), silentLog);
  const worker = await connect(engine.engine.dialer(), { name: 'shell' });
  worker.serve({ def: shell, context });
  await worker.call('engine::workers::list');
  const client = connectSdk(version, engine.url);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await shell.close(context);
      await engine[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

describe.each(versions)('%s', (version) => {
  test('runs a command', async () => {
    await using own = await setUp(version);
    const payload = { command: 'echo', args: ['hello'] };
    expect(await own.client.trigger({ function_id: 'shell::exec', payload })).toEqual({
      exit_code: 0,
      stdout: 'hello\n',
      stderr: '',
      duration_ms: expect.any(Number),
      timed_out: false,
      stdout_truncated: false,
      stderr_truncated: false,
    });
  });

  test('ignores fields it does not know, such as those an engine adds', async () => {
    await using own = await setUp(version);
    const payload = { command: 'echo', args: ['x'], _caller_worker_id: 'w1' };
    expect(await own.client.trigger({ function_id: 'shell::exec', payload })).toMatchObject({ stdout: 'x\n' });
  });

  test.each([
    ['the policy in words', 'shell::exec', { command: 'nmap' }, `handler error: command 'nmap' not in allowlist`],
    ['an unknown job in words', 'shell::status', { job_id: 'x' }, 'handler error: no such job: x'],
    [
      'a directory outside as JSON with its code',
      'shell::exec',
      { command: 'cat', cwd: '/etc' },
      '{"code":"S215","message":"/etc leaves the root; name a path inside it"}',
    ],
  ])('gets %s', async (_, function_id, payload, text) => {
    await using own = await setUp(version);
    await expect(own.client.trigger({ function_id, payload })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: `invocation_failed: ${text}`,
    });
  });

  test('starts a job, reads its status and lists it', async () => {
    await using own = await setUp(version);
    const call = (function_id: string, payload: unknown) =>
      own.client.trigger<unknown, Record<string, unknown>>({ function_id, payload });
    const { job_id } = await call('shell::exec_bg', { command: 'echo', args: ['x'] });
    await expect
      .poll(async () => call('shell::status', { job_id }))
      .toMatchObject({ job: { id: job_id, status: 'finished', stdout: 'x\n', exit_code: 0 } });
    expect(await call('shell::list', {})).toMatchObject({ count: 1, jobs: [{ id: job_id }] });
    expect(await call('shell::kill', { job_id })).toEqual({
      job_id,
      killed: false,
      status: 'finished',
      reason: 'not running',
    });
  });
});
