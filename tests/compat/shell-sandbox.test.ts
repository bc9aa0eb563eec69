/** Commands that shell sends into a sandbox, answered by a stand-in for its worker made with the published SDK. */
import { describe, expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import { shellCases, startEngine, tempDir } from '#testing';
import { shell } from '#workers/shell';
import { connectSdk, versions } from './support/clients.ts';
import { deferred, within } from './support/waiting.ts';

const SANDBOX = '0b0e7a4e-4b0c-4c3f-9d52-1f1f6d1d2a11';
const target = { kind: 'sandbox', sandbox_id: SANDBOX };

type Handler = (payload: Record<string, unknown>) => Promise<unknown>;

interface Setup extends AsyncDisposable {
  call(functionId: string, payload: unknown): Promise<Record<string, unknown>>;
  /** The requests to sandbox::exec. */
  seen: unknown[];
}

/** Our shell and a sandbox worker of the SDK on one engine; without a handler there is no such worker. */
async function setUp(handler?: Handler, version: (typeof versions)[number] = '0.22.1'): Promise<Setup> {
  const dir = await tempDir();
  const engine = await startEngine();
  const context = await shell.open(parseConfig(shell.config, shellCases(dir.root), 'shell'), silentLog);
  const worker = await connect(engine.engine.dialer(), { name: 'shell' });
  worker.serve({ def: shell, context });
  const caller = await connect(engine.engine.dialer(), { name: 'caller' });
  await worker.call('engine::workers::list');

  const seen: unknown[] = [];
  const sandbox = handler && connectSdk(version, engine.url);
  sandbox?.registerFunction('sandbox::exec', async (payload: Record<string, unknown>) => {
    seen.push(payload);
    return handler?.(payload);
  });
  await sandbox?.settled();
  return {
    seen,
    call: async (functionId, payload) => (await caller.call(functionId, payload)) as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      await shell.close(context);
      await sandbox?.[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const reply = { stdout: 'hi\n', stderr: '', exit_code: 0, duration_ms: 12, timed_out: false, extra: true };
const failing = (text: string) => async () => {
  throw new Error(text);
};
const timedOut = {
  exit_code: null,
  stdout: '',
  stderr: '',
  duration_ms: 30_000,
  timed_out: true,
  stdout_truncated: false,
  stderr_truncated: false,
};
const request = { command: 'echo', args: ['hi'], timeout_ms: 30_000, target };

describe('exec', () => {
  test.each(versions)('shell.P15 shell.X36 is forwarded to a %s worker and its answer mapped', async (version) => {
    await using own = await setUp(async () => reply, version);
    expect(await own.call('shell::exec', request)).toEqual({
      exit_code: 0,
      stdout: 'hi\n',
      stderr: '',
      duration_ms: 12,
      timed_out: false,
      stdout_truncated: false,
      stderr_truncated: false,
    });
    expect(own.seen).toEqual([
      expect.objectContaining({ sandbox_id: SANDBOX, cmd: 'echo', args: ['hi'], timeout_ms: 30_000 }),
    ]);
  });

  test('reports the hosts that the sandbox was denied', async () => {
    const egress_refused = [{ host: 'example.org:443', reason: 'egress.allow does not list example.org:443' }];
    await using own = await setUp(async () => ({ ...reply, egress_refused }));
    expect(await own.call('shell::exec', request)).toMatchObject({ exit_code: 0, egress_refused });
  });

  test.each([
    ['above the maximum', 999_999, 30_000],
    ['left out', null, 10_000],
  ])('a timeout %s is sent as %d', async (_, timeout_ms, sent) => {
    await using own = await setUp(async () => reply);
    await own.call('shell::exec', { ...request, timeout_ms });
    expect(own.seen).toMatchObject([{ timeout_ms: sent }]);
  });

  test.each([
    ['as a coded failure', '{"code":"S200","message":"exec took too long"}'],
    ['in the words of the original', 'handler error: {"code":"S200","message":"exec timed out after 4000 ms"}'],
    ['in words alone', 'exec timed out'],
  ])('shell.X37 a timeout reported %s is an answer', async (_, text) => {
    await using own = await setUp(failing(text));
    expect(await own.call('shell::exec', request)).toEqual(timedOut);
  });

  test('output that the sandbox cut is announced, of a command and of a job', async () => {
    await using own = await setUp(async () => ({ ...reply, stdout_truncated: true, stderr_truncated: false }));
    const cut = { stdout_truncated: true, stderr_truncated: false };
    expect(await own.call('shell::exec', request)).toMatchObject(cut);
    const { job_id } = (await own.call('shell::exec_bg', request)) as { job_id: string };
    await expect
      .poll(() => own.call('shell::status', { job_id }))
      .toMatchObject({ job: { status: 'finished', ...cut } });
  });

  test('a timeout that the sandbox answers itself keeps the output', async () => {
    await using own = await setUp(async () => ({ ...reply, exit_code: null, timed_out: true }));
    expect(await own.call('shell::exec', request)).toEqual({ ...timedOut, stdout: 'hi\n', duration_ms: 12 });
  });

  test('shell.X39 the policy is asked first, and the sandbox is not', async () => {
    await using own = await setUp(async () => reply);
    await expect(own.call('shell::exec', { ...request, command: 'nmap' })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: "command 'nmap' not in allowlist",
    });
    await expect(own.call('shell::exec', { ...request, args: ['deny_marker'] })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: 'command matches denylist: deny_marker',
    });
    expect(own.seen).toEqual([]);
  });

  test.each([
    ['a coded failure keeps its code', '{"code":"S002","message":"sandbox not found"}', 'S002', 'sandbox not found'],
    ['a code in the text is found', 'VM said S300: no boot', 'S300', 'VM said S300: no boot'],
    ['the code of the failure wins over one in its text', '{"message":"not S300","code":"S004"}', 'S004', 'not S300'],
    ['a code that exec does not promise becomes S216', '{"code":"S214","message":"not empty"}', 'S216', 'not empty'],
    ['letters that only resemble a code', 'XS300 S3000 broke', 'S216', 'XS300 S3000 broke'],
    ['no code at all becomes S216', 'broke', 'S216', 'broke'],
  ])('%s', async (_, text, code, message) => {
    await using own = await setUp(failing(text));
    await expect(own.call('shell::exec', request)).rejects.toMatchObject({
      code,
      message: `forwarded from engine: ${message}`,
    });
  });

  test.each([[{}], [null], ['done'], [{ ...reply, exit_code: 'x' }], [{ ...reply, stdout: undefined }]])(
    'an answer of %j is S216',
    async (answer) => {
      await using own = await setUp(async () => answer);
      await expect(own.call('shell::exec', request)).rejects.toMatchObject({
        code: 'S216',
        message: expect.stringMatching(
          /^bad engine response: the reply of sandbox::exec is not valid at (the reply itself|`\w+`) \(.+\); update the worker/,
        ),
      });
    },
  );

  test('without a sandbox worker the error names what is missing', async () => {
    await using own = await setUp();
    await expect(own.call('shell::exec', request)).rejects.toMatchObject({
      code: 'S216',
      message: expect.stringMatching(
        /^forwarded from engine: Function sandbox::exec not found.*; is the iii-sandbox worker running\?$/,
      ),
    });
  });
});

describe('exec_bg', () => {
  const start = async (own: Setup) => (await own.call('shell::exec_bg', request)).job_id as string;
  const status = async (own: Setup, job_id: string) =>
    (await own.call('shell::status', { job_id })).job as Record<string, unknown>;

  test.each<[string, Handler, Record<string, unknown>]>([
    ['exit code 0', async () => reply, { status: 'finished', exit_code: 0, stdout: 'hi\n', stderr: '' }],
    [
      'another code',
      async () => ({ ...reply, exit_code: 3 }),
      { status: 'failed', exit_code: 3, stdout: 'hi\n', stderr: '' },
    ],
    [
      'a timeout',
      failing('{"code":"S200","message":"x"}'),
      { status: 'killed', exit_code: null, stdout: '', stderr: '' },
    ],
    [
      'a failure',
      failing('{"code":"S002","message":"gone"}'),
      { status: 'failed', exit_code: null, stdout: '', stderr: 'S002: forwarded from engine: gone' },
    ],
  ])('ends by %s', async (_, handler, end) => {
    await using own = await setUp(handler);
    const id = await start(own);
    await expect.poll(async () => (await status(own, id)).status).toBe(end.status);
    expect(await status(own, id)).toEqual({
      id,
      argv: ['echo', 'hi'],
      started_at_ms: expect.any(Number),
      finished_at_ms: expect.any(Number),
      stdout_truncated: false,
      stderr_truncated: false,
      next: expect.any(Number),
      ...end,
    });
    expect(own.seen).toMatchObject([{ sandbox_id: SANDBOX, cmd: 'echo', args: ['hi'], timeout_ms: 30_000 }]);
  });

  test('kill reports why it cannot cancel the command; a late answer adds the output and nothing else', async () => {
    const go = deferred<void>();
    await using own = await setUp(async () => {
      await within(go.promise, 'the signal to continue');
      return reply;
    });
    const id = await start(own);
    expect(await status(own, id)).toMatchObject({ status: 'running', finished_at_ms: null });

    expect(await own.call('shell::kill', { job_id: id })).toEqual({
      job_id: id,
      killed: true,
      status: 'killed',
      reason: 'sandbox::exec cannot be cancelled: the process runs in its sandbox until its timeout_ms is over',
    });
    const killed = await status(own, id);
    expect(killed).toMatchObject({ status: 'killed', stdout: '', exit_code: null });

    go.resolve();
    await expect.poll(async () => (await status(own, id)).stdout).toBe('hi\n');
    expect(await status(own, id)).toEqual({ ...killed, stdout: 'hi\n', next: 3 });
  });

  test('counts towards the same cap as jobs of the host', async () => {
    const go = deferred<void>();
    await using own = await setUp(async () => {
      await within(go.promise, 'the signal to continue');
      return reply;
    });
    await start(own);
    await own.call('shell::exec_bg', { command: 'sleep', args: ['20'] });
    await expect(start(own)).rejects.toMatchObject({
      message: expect.stringContaining('max concurrent jobs (2) reached'),
    });
    go.resolve();
  });
});
