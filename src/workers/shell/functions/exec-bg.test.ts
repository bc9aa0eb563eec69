import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { JobRecord } from '#job-functions';
import { serveWorker, shellCases, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';

interface Cell extends AsyncDisposable {
  dir: TempDir;
  worker: ServedWorker;
  start(script: string): Promise<string>;
  status(jobId: string): Promise<JobRecord>;
  until(jobId: string, status: string): Promise<JobRecord>;
}

async function cell(more: Record<string, unknown> = {}): Promise<Cell> {
  const dir = await tempDir();
  const worker = await serveWorker(shell, shellCases(dir.root, more));
  const status = async (job_id: string) => (await worker.call<{ job: JobRecord }>('shell::status', { job_id })).job;
  return {
    dir,
    worker,
    status,
    start: async (script) =>
      (await worker.call<{ job_id: string }>('shell::exec_bg', { command: 'sh', args: ['-c', script] })).job_id,
    async until(jobId, wanted) {
      await expect.poll(async () => (await status(jobId)).status).toBe(wanted);
      return status(jobId);
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const isAlive = (pid: string) => existsSync(`/proc/${pid}`);

describe('start', () => {
  test('shell.X40 answers with an id and the words, and the job runs', async () => {
    await using own = await cell();
    const before = Date.now();
    const reply = await own.worker.call<{ job_id: string }>('shell::exec_bg', { command: 'sleep', args: ['5'] });
    expect(reply).toEqual({
      job_id: expect.stringMatching(/^job-[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      argv: ['sleep', '5'],
    });
    const job = await own.status(reply.job_id);
    expect(job).toEqual({
      id: reply.job_id,
      argv: ['sleep', '5'],
      status: 'running',
      started_at_ms: expect.any(Number),
      finished_at_ms: null,
      exit_code: null,
      stdout: '',
      stderr: '',
      stdout_truncated: false,
      stderr_truncated: false,
      next: 0,
    });
    expect(job.started_at_ms).toBeGreaterThanOrEqual(before);
    expect(job.started_at_ms).toBeLessThanOrEqual(Date.now());
  });

  test('a program that does not exist is an error with its name, and leaves no job', async () => {
    await using own = await cell({ allowlist: [] });
    await expect(own.worker.call('shell::exec_bg', { command: '_no_such_' })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: expect.stringMatching(/^spawn: .*_no_such_/),
    });
    expect(await own.worker.call('shell::list')).toEqual({ jobs: [], count: 0 });
  });

  test('is guarded as the foreground is', async () => {
    await using own = await cell({ sandbox: { enabled: false } });
    const target = { kind: 'sandbox', sandbox_id: '0b0e7a4e-4b0c-4c3f-9d52-1f1f6d1d2a11' };
    await expect(own.worker.call('shell::exec_bg', { command: 'nmap' })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: "command 'nmap' not in allowlist",
    });
    await expect(own.worker.call('shell::exec_bg', { command: 'echo', target })).rejects.toMatchObject({
      code: 'S210',
      message: expect.stringMatching(/^sandbox target disabled in config: .* sandbox\.enabled: true/),
    });
    expect(await own.worker.call('shell::list')).toEqual({ jobs: [], count: 0 });
  });

  test('takes cwd, env and stdin', async () => {
    await using own = await cell();
    own.dir.add({ 'sub/': '' });
    const { job_id } = await own.worker.call<{ job_id: string }>('shell::exec_bg', {
      command: 'sh',
      args: ['-c', 'pwd; echo $LANG; cat'],
      cwd: 'sub',
      env: { LANG: 'xx' },
      stdin: 'in',
    });
    expect(await own.until(job_id, 'finished')).toMatchObject({ stdout: `${own.dir.root}/sub\nxx\nin`, exit_code: 0 });
  });

  test('shell.P7 shell.X45 over the cap nothing is started', async () => {
    await using own = await cell();
    await Promise.all([own.start('sleep 20'), own.start('sleep 20')]);
    await expect(own.start('touch m')).rejects.toMatchObject({
      code: 'invocation_failed',
      message: 'max concurrent jobs (2) reached, wait for one to end or kill one',
    });
    expect(existsSync(own.dir.path('m'))).toBe(false);
  });

  test('shell.X45 of many at once no more start than the cap allows', async () => {
    await using own = await cell();
    const starts = Array.from({ length: 10 }, (_, n) => own.start(`touch m${n}; sleep 20`));
    const outcomes = await Promise.allSettled(starts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await own.worker.call('shell::list')).toMatchObject({ count: 2 });
  });

  test('a job that ended makes room, and so does one that could not start', async () => {
    await using own = await cell({ allowlist: [] });
    for (let round = 0; round < 5; round++) {
      await own.until(await own.start('exit 0'), 'finished');
      await expect(own.worker.call('shell::exec_bg', { command: '_no_such_' })).rejects.toThrow('spawn: ');
    }
  });
});

describe('end', () => {
  test.each([
    [
      'shell.X42 a code other than 0',
      'echo out; echo err >&2; exit 2',
      { status: 'failed', exit_code: 2, stdout: 'out\n', stderr: 'err\n' },
    ],
    ['a code of 0', 'echo out', { status: 'finished', exit_code: 0, stdout: 'out\n', stderr: '' }],
    ['a signal of its own', 'kill -9 $$', { status: 'failed', exit_code: null, stdout: '', stderr: '' }],
  ])('%s', async (_, script, end) => {
    await using own = await cell();
    const id = await own.start(script);
    const job = await own.until(id, end.status);
    expect(job).toEqual({
      id,
      argv: ['sh', '-c', script],
      started_at_ms: expect.any(Number),
      finished_at_ms: expect.any(Number),
      stdout_truncated: false,
      stderr_truncated: false,
      next: end.stdout.length + end.stderr.length,
      ...end,
    });
  });

  test('shell.X55 timeout_ms does not end a job of the host', async () => {
    await using own = await cell({ max_timeout_ms: 100 });
    const { job_id } = await own.worker.call<{ job_id: string }>('shell::exec_bg', {
      command: 'sleep',
      args: ['1'],
      timeout_ms: 100,
    });
    expect(await own.until(job_id, 'finished')).toMatchObject({ exit_code: 0 });
  });

  test('shell.X54 is removed after its retention, without any call', async () => {
    await using own = await cell({ job_retention_secs: 1 });
    const id = await own.start('exit 0');
    await own.until(id, 'finished');
    await expect.poll(() => own.status(id).catch(String)).toBe(`CallError: no such job: ${id}`);
    expect(await own.worker.call('shell::list')).toEqual({ jobs: [], count: 0 });
  });

  test('shell.X58 comes with the end of the worker', async () => {
    await using own = await cell();
    await own.start('echo $$ > pid; sleep 60');
    await expect.poll(() => existsSync(own.dir.path('pid')) && readFileSync(own.dir.path('pid'), 'utf8')).toMatch(/\d/);
    const pid = readFileSync(own.dir.path('pid'), 'utf8').trim();
    expect(isAlive(pid)).toBe(true);

    await own.worker.stop();
    expect(isAlive(pid)).toBe(false);
  });
});

describe('status', () => {
  test('shell.X43 shows what was printed so far', async () => {
    await using own = await cell();
    const id = await own.start('echo one; echo oops >&2; sleep 20');
    await expect.poll(async () => (await own.status(id)).stdout).toBe('one\n');
    await expect.poll(async () => (await own.status(id)).stderr).toBe('oops\n');
    expect(await own.status(id)).toMatchObject({ status: 'running', finished_at_ms: null });
  });

  test('reports that output was cut, while it runs and afterwards', async () => {
    await using own = await cell();
    const id = await own.start(`printf '%05000d' 0; while [ ! -e go ]; do sleep 0.05; done`);
    await expect.poll(async () => (await own.status(id)).stdout_truncated).toBe(true);
    expect((await own.status(id)).stdout).toBe('0'.repeat(4096));

    own.dir.add({ go: '' });
    expect(await own.until(id, 'finished')).toMatchObject({ stdout: '0'.repeat(4096), stdout_truncated: true });
  });

  test.each(['shell::status', 'shell::kill'])('shell.X48 %s of a job that is not known', async (fn) => {
    await using own = await cell();
    for (const job_id of ['', 'job-x']) {
      await expect(own.worker.call(fn, { job_id })).rejects.toMatchObject({
        code: 'invocation_failed',
        message: `no such job: ${job_id}`,
      });
    }
  });

  test.each(['shell::status', 'shell::kill'])('shell.X49 %s of an id that is not text', async (fn) => {
    await using own = await cell();
    await expect(own.worker.call(fn, { job_id: 42 })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: '`job_id` must be a string (got a number)',
    });
  });
});

describe('list', () => {
  test('shell.X52 shows neither words nor output, and ignores what is sent', async () => {
    await using own = await cell();
    const id = await own.start('echo secret');
    const { started_at_ms, finished_at_ms } = await own.until(id, 'finished');
    const jobs = [
      {
        id,
        status: 'finished',
        started_at_ms,
        finished_at_ms,
        exit_code: 0,
        stdout_truncated: false,
        stderr_truncated: false,
      },
    ];
    for (const payload of [undefined, {}, 'anything', { count: -1 }]) {
      expect(await own.worker.call('shell::list', payload)).toEqual({ jobs, count: 1 });
    }
  });

  test('shell.X57 is in the order of the starts, whatever ended first', async () => {
    await using own = await cell({ max_concurrent_jobs: 8 });
    const ids: string[] = [];
    for (const secs of [20, 0, 20, 0, 0]) ids.push(await own.start(`sleep ${secs}`));
    await own.until(ids[4]!, 'finished');
    const listed = async () =>
      (await own.worker.call<{ jobs: { id: string }[] }>('shell::list')).jobs.map(({ id }) => id);
    expect(await listed()).toEqual(ids);
    expect(await listed()).toEqual(ids);
  });
});

describe('kill', () => {
  test('shell.X46 ends a job, which stays killed', async () => {
    await using own = await cell();
    const id = await own.start('echo $$ > pid; echo before; sleep 60');
    await expect.poll(async () => (await own.status(id)).stdout).toBe('before\n');

    expect(await own.worker.call('shell::kill', { job_id: id })).toEqual({
      job_id: id,
      killed: true,
      status: 'killed',
    });
    const job = await own.status(id);
    expect(job).toMatchObject({
      status: 'killed',
      exit_code: null,
      stdout: 'before\n',
      finished_at_ms: expect.any(Number),
    });
    expect(isAlive(readFileSync(own.dir.path('pid'), 'utf8').trim())).toBe(false);

    expect(await own.worker.call('shell::kill', { job_id: id })).toEqual({
      job_id: id,
      killed: false,
      status: 'killed',
      reason: 'not running',
    });
    expect(await own.status(id)).toEqual(job);
  });

  test('of a job that ended says how', async () => {
    await using own = await cell();
    const id = await own.start('exit 3');
    await own.until(id, 'failed');
    expect(await own.worker.call('shell::kill', { job_id: id })).toEqual({
      job_id: id,
      killed: false,
      status: 'failed',
      reason: 'not running',
    });
  });

  test('shell.X51 ends a job that closed its pipes', async () => {
    await using own = await cell();
    const id = await own.start('echo $$ > pid; exec >&- 2>&- <&-; sleep 60');
    await expect.poll(() => existsSync(own.dir.path('pid')) && readFileSync(own.dir.path('pid'), 'utf8')).toMatch(/\d/);
    expect(await own.status(id)).toMatchObject({ status: 'running' });

    expect(await own.worker.call('shell::kill', { job_id: id })).toEqual({
      job_id: id,
      killed: true,
      status: 'killed',
    });
    expect(isAlive(readFileSync(own.dir.path('pid'), 'utf8').trim())).toBe(false);
  });

  test('makes room for the next', async () => {
    await using own = await cell();
    const ids = [await own.start('sleep 60'), await own.start('sleep 60')];
    await own.worker.call('shell::kill', { job_id: ids[0] });
    expect(await own.start('sleep 60')).toMatch(/^job-/);
  });
});
