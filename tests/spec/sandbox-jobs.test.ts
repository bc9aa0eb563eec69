/** Jobs of shell in a sandbox, with both workers on one engine: shell::kill ends the processes in the guest. */
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { makePrincipal, parseConfig, silentLog, type CallEvent, type CallOptions } from '#contract';
import {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  serveSandboxes,
  shellCases,
  tempDir,
  whyNoSandbox,
  type SandboxCases,
  type TempDir,
} from '#testing';
import { shell } from '#workers/shell';
import { endToken } from '../../src/assembly/end-token.ts';

vi.setConfig({ testTimeout: CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });
const whyNot = await whyNoSandbox(['python']);

describe.skipIf(whyNot !== undefined)(`jobs in a sandbox${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let cell: SandboxCases;
  let dir: TempDir;
  let context: Awaited<ReturnType<typeof shell.open>>;
  let sandbox_id: string;

  beforeAll(async () => {
    dir = await tempDir();
    cell = await serveSandboxes();
    const peer = await cell.connect('shell');
    const config = shellCases(dir.root, { max_timeout_ms: CASE_PATIENCE_MS });
    context = await shell.open(parseConfig(shell.config, config, 'shell'), silentLog);
    peer.serve({ def: shell, context });
    await peer.call('engine::workers::list');
    sandbox_id = await cell.create();
  });
  afterAll(async () => {
    await cell?.[Symbol.asyncDispose]();
    if (context) await shell.close(context);
    await dir?.[Symbol.asyncDispose]();
  });

  const call = <Reply = Record<string, unknown>>(id: string, payload?: object, options: CallOptions = {}) =>
    cell.call<Reply>(id, payload, { timeoutMs: CASE_PATIENCE_MS, ...options });
  const inSandbox = (script: string) => ({
    ...{ command: 'sh', args: ['-c', script], target: { kind: 'sandbox', sandbox_id } },
    timeout_ms: CASE_PATIENCE_MS,
  });
  const start = async (script: string) => (await call<{ job_id: string }>('shell::exec_bg', inSandbox(script))).job_id;
  const output = (job_id: string, more: Record<string, unknown>) =>
    call<{ next: number; text: string; done: boolean }>('shell::output', {
      ...{ job_id, wait_ms: CASE_PATIENCE_MS, ...more },
    });
  const touch = (path: string) => call('sandbox::exec', { sandbox_id, cmd: 'touch', args: [path] });
  /** Number of guest processes that have the word in their command line. */
  const living = async (word: string) => {
    const pattern = `[${word[0]}]${word.slice(1)}`;
    const script = `for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | grep -c '^sleep ${pattern}'`;
    return Number((await call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv: ['sh', '-c', script] })).stdout);
  };

  test('shell.P18 kill ends what runs in the guest with all that came from it, and keeps what was printed', async () => {
    const job_id = await start('echo begun; (setsid sleep 4711 &); sleep 4711 & sleep 4711; echo never');
    await expect.poll(() => living('4711'), { timeout: CASE_PATIENCE_MS }).toBe(3);
    expect((await call('shell::list')).jobs).toMatchObject([{ id: job_id, status: 'running' }]);

    expect(await call('shell::kill', { job_id })).toEqual({ job_id, killed: true, status: 'killed' });
    expect(await living('4711')).toBe(0);
    expect(await call('shell::status', { job_id })).toMatchObject({
      job: { status: 'killed', exit_code: null, stdout: 'begun\n', stderr: '', finished_at_ms: expect.any(Number) },
    });
    expect((await call('shell::list')).jobs).toMatchObject([{ id: job_id, status: 'killed' }]);
    expect(await call('shell::kill', { job_id })).toMatchObject({ killed: false, reason: 'not running' });
  });

  test('shell.P18 one job that is killed leaves the others of its sandbox alone', async () => {
    const [gone, kept] = [await start('sleep 4712'), await start('sleep 4713')];
    await expect.poll(() => living('471'), { timeout: CASE_PATIENCE_MS }).toBe(2);
    await call('shell::kill', { job_id: gone });
    expect([await living('4712'), await living('4713')]).toEqual([0, 1]);
    expect(await call('shell::status', { job_id: kept })).toMatchObject({ job: { status: 'running' } });
    await call('shell::kill', { job_id: kept });
  });

  test('live.D1 output of a command in a sandbox reaches a watcher while it runs, and the answer is the same', async () => {
    // The command ends only because its first line arrived while it ran.
    const heard: string[] = [];
    const touching: Promise<unknown>[] = [];
    const onEvent = ({ stream, text }: CallEvent) => {
      heard.push(`${stream as string}: ${text as string}`);
      if (text === 'one\n') touching.push(touch('/tmp/go').catch((error: unknown) => error));
    };
    const script = inSandbox('echo one; until [ -e /tmp/go ]; do sleep 0.05; done; echo two >&2');
    const reply = await call('shell::exec', script, { onEvent });
    expect(await Promise.all(touching)).toMatchObject([{ exit_code: 0 }]);
    expect(reply).toMatchObject({ exit_code: 0, timed_out: false, stdout: 'one\n', stderr: 'two\n' });
    expect(heard).toEqual(['stdout: one\n', 'stderr: two\n']);

    const flood = inSandbox(`head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2`);
    const [plain, watched] = [
      await call('shell::exec', flood),
      await call('shell::exec', flood, { onEvent: () => {} }),
    ];
    expect({ ...watched, duration_ms: 0 }).toEqual({ ...plain, duration_ms: 0 });
  });

  test('live.D1 a slow reader gets all output of a command in a sandbox, without gaps', async () => {
    const caller = await cell.connect('reader');
    const { reader, writer } = await caller.createChannel();
    const items = await caller.openReader(reader);
    const reply = call('shell::exec', { ...inSandbox('seq 1500000; echo end >&2'), output: writer });
    await delay(500);
    const read = { out: [] as Uint8Array[], err: [] as string[] };
    for await (const item of items) {
      if (typeof item === 'string') read.err.push(item);
      else read.out.push(Buffer.from(item));
    }
    const lines = Buffer.concat(read.out).toString().trimEnd().split('\n');
    expect(lines.length).toBe(1_500_000);
    expect(lines.findIndex((line, index) => Number(line) !== index + 1)).toBe(-1);
    expect(read.err.map((item) => Buffer.from(JSON.parse(item).base64, 'base64').toString()).join('')).toBe('end\n');
    expect(await reply).toMatchObject({ exit_code: 0, streamed: true, stdout_truncated: true });
  });

  test('live.D1 the last output of a job in a sandbox has no gaps', async () => {
    const job_id = await start('seq 1500000; echo over');
    let [since, text] = [0, ''];
    for (;;) {
      const read = await output(job_id, { since, until: { exit: true } });
      since = read.next;
      text = `${text}${read.text}`.slice(-100_000);
      if (read.done) break;
    }
    const lines = text.trimEnd().split('\n');
    expect(lines.pop()).toBe('over');
    expect(lines.slice(1).map(Number)).toEqual(lines.slice(1).map((_, index) => 1_500_000 - lines.length + 2 + index));
  });

  test('live.D1 output of a job in a sandbox is read while it runs', async () => {
    const job_id = await start('echo begun; until [ -e /tmp/on ]; do sleep 0.05; done; echo over');
    const until = (pattern: string) => output(job_id, { until: { pattern } });
    expect(await until('begun')).toMatchObject({ status: 'running', text: 'begun\n' });
    await touch('/tmp/on');
    expect(await until('over')).toMatchObject({ text: 'begun\nover\n' });
  });

  test('a token that is removed takes its sandboxes with it, and its jobs in those of others', async () => {
    const caller = { ...makePrincipal('token', 'guest'), client: { name: 'curl', version: '1' } };
    const others = { caller: makePrincipal('token', 'guest2') };
    const own = await call<{ sandbox_id: string }>('sandbox::create', { image: 'python' }, { caller });
    const job = { sandbox_id, cmd: 'sleep', args: ['600'] };
    const { job_id } = await call<{ job_id: string }>('sandbox::exec_bg', job, { caller });
    const kept = await call<{ job_id: string }>('sandbox::exec_bg', job, others);
    await endToken(cell.engine, 'guest', { namespaces: ['default'], log: silentLog });
    const { sandboxes } = await call<{ sandboxes: { sandbox_id: string }[] }>('sandbox::list');
    const ids = sandboxes.map((one) => one.sandbox_id);
    expect([ids.includes(own.sandbox_id), ids.includes(sandbox_id)]).toEqual([false, true]);
    const statusOf = async (id: string) =>
      (await call<{ job: { status: string } }>('sandbox::status', { job_id: id })).job.status;
    expect([await statusOf(job_id), await statusOf(kept.job_id)]).toEqual(['killed', 'running']);
    await call('sandbox::kill', { job_id: kept.job_id });
  });
});
