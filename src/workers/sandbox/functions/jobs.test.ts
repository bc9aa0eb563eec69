/** Background jobs in a sandbox, with all operations of jobs on the host: read, wait, write, signal and end. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import type { CallEvent } from '#contract';
import {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  serveSandboxes,
  TEST_BACKEND,
  whyNoSandbox,
  withEnoughTime,
  type SandboxCases,
} from '#testing';

vi.setConfig({ testTimeout: CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });
const whyNot = await whyNoSandbox(['python']);

describe.skipIf(whyNot !== undefined)(`jobs of a sandbox${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let cell: SandboxCases;
  let sandbox_id: string;
  beforeAll(async () => {
    cell = await serveSandboxes();
    sandbox_id = await cell.create();
  });
  afterAll(() => cell?.[Symbol.asyncDispose]());

  const sh = (script: string) => ({ sandbox_id, argv: ['sh', '-c', script] });
  const start = async (script: string, more: Record<string, unknown> = {}) =>
    (await cell.call<{ job_id: string }>('sandbox::exec_bg', { ...sh(script), ...more })).job_id;
  const output = (job_id: string, more: Record<string, unknown> = {}) =>
    cell.call<Record<string, unknown> & { text: string; next: number }>(
      'sandbox::output',
      { job_id, wait_ms: CASE_PATIENCE_MS, ...more },
      { timeoutMs: CASE_PATIENCE_MS },
    );
  const ended = (job_id: string, more: Record<string, unknown> = {}) =>
    output(job_id, { until: { exit: true }, ...more });
  const kill = (job_id: string, signal?: string) => cell.call('sandbox::kill', { job_id, signal });

  describe('output', () => {
    test('sandbox.P17 live.D10 a job starts, is listed with its sandbox, and is read from an offset on', async () => {
      const job_id = await start('echo one; echo two >&2; read x; echo "three $x"; exit 4', { input: true });
      const first = await output(job_id, { until: { pattern: 'two' } });
      expect(first).toMatchObject({ status: 'running', from: 0, next: 8, lost: 0, matched: { by: 'pattern' } });
      const { jobs } = await cell.call<{ jobs: object[] }>('sandbox::jobs', { sandbox_id });
      expect(jobs).toContainEqual(expect.objectContaining({ id: job_id, sandbox_id, status: 'running' }));
      expect(await cell.call('sandbox::input', { job_id, text: 'x\n' })).toEqual({ written: 2, next: 8 });
      expect(await ended(job_id, { since: 8 })).toMatchObject({
        ...{ status: 'failed', exit_code: 4, text: 'three x\n', done: true },
      });
      expect(await cell.call('sandbox::status', { job_id })).toMatchObject({
        job: { sandbox_id, status: 'failed', exit_code: 4, stdout: 'one\nthree x\n', stderr: 'two\n', next: 16 },
      });
    });

    test('live.D10 a wait ends with quiet, a port or its time', async () => {
      const quiet = await start('echo on; exec sleep 1000');
      expect(await output(quiet, { until: { idle_ms: 200 } })).toMatchObject({ matched: { by: 'idle' } });
      expect(await output(quiet, { until: { port: 4567 }, wait_ms: 100 })).toMatchObject({
        matched: { by: 'timeout' },
      });
      const server = await start('exec python3 -m http.server 4567 --bind 127.0.0.1');
      expect(await output(server, { until: { port: 4567 } })).toMatchObject({ matched: { by: 'port' } });
      for (const job of [quiet, server]) expect(await kill(job)).toMatchObject({ killed: true, status: 'killed' });
    });

    test('live.D10 more than the ring holds: the exact count is lost, the job is not held up, memory is bounded', async () => {
      const job_id = await start('head -c 5000000 /dev/zero | tr "\\0" x', { ring_bytes: 65_536 });
      expect(await ended(job_id, { max_bytes: 1_048_576 })).toMatchObject({
        ...{ status: 'finished', from: 5_000_000 - 65_536, next: 5_000_000, lost: 5_000_000 - 65_536 },
      });
    });

    test('live.D10 a reader that attaches gets every byte in order, then the exit', async () => {
      const job_id = await start('seq 1 50000; echo err >&2; exit 3', { ring_bytes: 1_048_576 });
      const caller = await cell.connect('reader');
      const { reader } = (await caller.call('sandbox::attach', { job_id })) as { reader: never };
      const seen: Buffer[] = [];
      const controls: Record<string, unknown>[] = [];
      for await (const item of await caller.openReader(reader)) {
        if (typeof item === 'string') controls.push(JSON.parse(item) as Record<string, unknown>);
        else seen.push(Buffer.from(item));
      }
      expect(Buffer.concat(seen).toString()).toBe(Array.from({ length: 50_000 }, (_, n) => `${n + 1}\n`).join(''));
      expect(controls).toMatchObject([{ t: 'err' }, { t: 'exit', status: 'failed', exit_code: 3 }]);
      caller.close();
    });
  });

  describe('input and signals', () => {
    test('live.D10 one megabyte reaches a program that reads slowly, once and in order', async () => {
      const job_id = await start('sleep 0.5; sha256sum; exit 0', { input: true });
      const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, n) => n & 0xff));
      let written = 0;
      while (written < bytes.length) {
        const base64 = bytes.subarray(written).toString('base64');
        written += (await cell.call<{ written: number }>('sandbox::input', { job_id, base64 })).written;
      }
      await cell.call('sandbox::input', { job_id, eof: true });
      const { createHash } = await import('node:crypto');
      expect((await ended(job_id)).text).toContain(createHash('sha256').update(bytes).digest('hex'));
    });

    test('live.D10 a signal reaches all processes of the job, and a job that it ends has no exit code', async () => {
      const job_id = await start('trap "echo usr1" USR1; echo up; while :; do sleep 0.1; done');
      await output(job_id, { until: { pattern: 'up' } });
      expect(await kill(job_id, 'USR1')).toMatchObject({ killed: false, signal: 'USR1', status: 'running' });
      await output(job_id, { until: { pattern: 'usr1' } });
      await kill(job_id, 'TERM');
      expect(await ended(job_id)).toMatchObject({ status: 'killed', exit_code: null });
    });

    test('live.D8 a kill ends everything that a job and its terminal session started', async () => {
      const tree = 'sleep 7351 & (setsid sleep 7351 &) ; nohup sleep 7351 >/dev/null 2>&1 & echo on; sleep 7351';
      for (const terminal of [undefined, { cols: 80, rows: 24 }]) {
        const job_id = await start(tree, { terminal });
        await output(job_id, { until: { pattern: 'on' } });
        expect(await kill(job_id)).toMatchObject({ killed: true, status: 'killed' });
        const { stdout } = await cell.call<{ stdout: string }>(
          'sandbox::exec',
          sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "'),
        );
        expect(stdout).not.toContain('sleep 7351');
      }
    });
  });

  describe('terminals', () => {
    test('live.D10 size, type, keys, a new size, and the size in its status', async () => {
      const job_id = await start('echo "$TERM"; stty size; read x; stty size; echo "got $x"', {
        terminal: { cols: 90, rows: 20 },
      });
      expect((await output(job_id, { until: { pattern: '20 90' } })).text).toBe('xterm-256color\r\n20 90\r\n');
      await cell.call('sandbox::input', { job_id, cols: 132, rows: 50 });
      await cell.call('sandbox::input', { job_id, text: 'keys\n' });
      expect((await ended(job_id)).text).toMatch(/50 132\r\ngot keys\r\n$/);
      expect(await cell.call('sandbox::status', { job_id })).toMatchObject({
        job: { terminal: true, cols: 132, rows: 50, exit_code: 0 },
      });
    });

    test('live.D10 an interactive shell has job control, and Ctrl-C ends what runs in it', async () => {
      const job_id = await start('exec bash --norc --noprofile -i', { terminal: { cols: 80, rows: 24 } });
      const type = (text: string) => cell.call<{ next: number }>('sandbox::input', { job_id, text });
      const until = (pattern: string, since: number) => output(job_id, { since, until: { pattern }, strip_ansi: true });
      await until(String.raw`[#$] $`, 0);
      const { next } = await type(`sh -c 'echo up; exec sleep 100'\n`);
      await until(String.raw`^\r?up$`, next);
      await type('\x1a');
      await until('Stopped', next);
      const fg = await type('fg\n');
      await until('exec sleep 100', fg.next);
      // bash prints the line before the program has the terminal: a key may come too early.
      const interrupted = async () => {
        await type('\x03');
        return output(job_id, { since: fg.next, wait_ms: 500, until: { pattern: String.raw`[#$] $` } });
      };
      await expect.poll(interrupted, { timeout: CASE_PATIENCE_MS }).toMatchObject({ matched: { by: 'pattern' } });
      await type('echo "ended with $?"\n');
      await until('ended with 130', fg.next);
      await type('exit 7\n');
      const end = await ended(job_id);
      expect(end).toMatchObject({ status: 'failed', exit_code: 7 });
      expect(end.text).not.toContain('no job control');
    });

    test('live.D7 no byte of 3 MB through a terminal is missing', async () => {
      const job_id = await start('stty raw; head -c 3000000 /dev/zero | tr "\\0" x', {
        ...{ terminal: { cols: 80, rows: 24 }, ring_bytes: 4_000_000 },
      });
      expect(await ended(job_id, { max_bytes: 1 })).toMatchObject({ status: 'finished', from: 0, lost: 0 });
      expect(await cell.call('sandbox::status', { job_id })).toMatchObject({ job: { next: 3_000_000 } });
    });
  });

  describe('sandbox::exec', () => {
    test('live.D10 reports output while the command runs, and answers as ever', async () => {
      const heard: CallEvent[] = [];
      const script = 'echo one; while [ ! -e /tmp/go ]; do sleep 0.02; done; echo two >&2; echo three';
      const onEvent = (event: CallEvent) => {
        heard.push(event);
        if (event.text === 'one\n') void cell.call('sandbox::exec', sh('touch /tmp/go'));
      };
      expect(await cell.call('sandbox::exec', sh(script), { onEvent })).toMatchObject({
        ...{ stdout: 'one\nthree\n', stderr: 'two\n', exit_code: 0, success: true },
      });
      expect(heard[0]).toEqual({ type: 'output', stream: 'stdout', text: 'one\n', offset: 4, message: 'one' });
      expect(heard.at(-1)!.offset).toBe(14);
    });

    test('live.D10 a channel gets all of it, also what the answer has no room for', async () => {
      const caller = await cell.connect('reader');
      const { reader, writer } = await caller.createChannel();
      const call = cell.call('sandbox::exec', { ...sh('head -c 3000000 /dev/zero'), output: writer });
      let bytes = 0;
      for await (const item of await caller.openReader(reader)) bytes += item.length;
      expect(bytes).toBe(3_000_000);
      expect(await call).toMatchObject({ exit_code: 0, stdout_truncated: true, streamed: true });
      caller.close();
    });

    test('live.D13 a command that still runs becomes a job, with its output and without its timeout', async () => {
      const begin = (afterMs: number) =>
        cell.call<{ job_id: string; next: number; stdout: string }>('sandbox::exec', {
          ...sh(`echo begun; sleep ${(afterMs + 1200) / 1000}; echo over`),
          ...{ background_after_ms: afterMs, timeout_ms: afterMs + 700 },
        });
      const reply = await withEnoughTime([300, 3000, 20_000], begin, ({ stdout }) => stdout !== '');
      expect(reply).toMatchObject({ exit_code: null, success: false, timed_out: false, stdout: 'begun\n', next: 6 });
      expect(await ended(reply.job_id, { since: reply.next })).toMatchObject({ status: 'finished', text: 'over\n' });
      const quick = await cell.call('sandbox::exec', { ...sh('echo quick'), background_after_ms: 60_000 });
      expect(quick).toMatchObject({ exit_code: 0, stdout: 'quick\n' });
      expect(quick).not.toHaveProperty('job_id');
    });
  });

  describe('refusals', () => {
    test('live.D10 name their code and what to do', async () => {
      const job_id = await start('exec sleep 1000');
      const failures = {
        missing: await cell.failure('sandbox::output', { job_id: 'job-x' }),
        noInput: await cell.failure('sandbox::input', { job_id, text: 'x' }),
        beyond: await cell.failure('sandbox::output', { job_id, since: 10 }),
        both: await cell.failure('sandbox::input', { job_id, text: 'x', base64: 'eA==' }),
        signal: await cell.failure('sandbox::kill', { job_id, signal: 'STOP' }),
        size: await cell.failure('sandbox::input', { job_id, cols: 1001, rows: 1 }),
        noTerminal: await cell.failure('sandbox::input', { job_id, cols: 80, rows: 24 }),
        workdir: await cell.failure('sandbox::exec_bg', { ...sh('true'), workdir: '/nowhere' }),
        sandbox: await cell.failure('sandbox::exec_bg', { sandbox_id: crypto.randomUUID(), cmd: 'true' }),
      };
      await kill(job_id);
      expect(failures).toMatchObject({
        missing: { code: 'S220', fix_note: expect.stringContaining('sandbox::jobs') },
        noInput: { code: 'S221', fix: { input: true } },
        beyond: { code: 'S223' },
        both: { code: 'S210', message: expect.stringContaining('base64') },
        signal: { code: 'S210', message: expect.stringContaining('signal') },
        size: { code: 'S210', message: expect.stringContaining('cols') },
        noTerminal: { code: 'S210' },
        workdir: { code: 'S001', fix: { workdir: '/' } },
        sandbox: { code: 'S002' },
      });
      const absent = await cell.call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id, cmd: '_no_such_' });
      expect(await ended(absent.job_id)).toMatchObject({
        ...{ status: 'failed', exit_code: 127, text: 'exec: _no_such_: not found\n' },
      });
    });

    // gVisor has no limit of terminals.
    test.skipIf(TEST_BACKEND === 'gvisor')('live.D10 a sandbox without a free terminal says so', async () => {
      const id = await cell.create();
      const code =
        'import os\nkept = []\ntry:\n  while True: kept.append(os.openpty())\nexcept OSError: print("full", flush=True)\ninput()';
      const holder = { sandbox_id: id, argv: ['python3', '-c', code], input: true };
      const { job_id } = await cell.call<{ job_id: string }>('sandbox::exec_bg', holder);
      await output(job_id, { until: { pattern: 'full' } });
      const asked = { sandbox_id: id, argv: ['tty'], terminal: { cols: 80, rows: 24 } };
      expect(await cell.failure('sandbox::exec_bg', asked)).toMatchObject({
        ...{
          code: 'S222',
          message: expect.stringContaining('ENOSPC'),
          fix_note: expect.stringContaining('64 terminals'),
        },
      });
      await kill(job_id);
      expect(await cell.call('sandbox::exec_bg', asked)).toMatchObject({ argv: ['tty'] });
      await cell.call('sandbox::stop', { sandbox_id: id, wait: true });
    });

    test('live.D10 eight callers attach to a job, the ninth is refused', async () => {
      const job_id = await start('exec sleep 1000');
      const caller = await cell.connect('crowd');
      for (let n = 0; n < 8; n++) await caller.call('sandbox::attach', { job_id });
      expect(await cell.failure('sandbox::attach', { job_id })).toMatchObject({ code: 'S224', retryable: true });
      await kill(job_id);
      caller.close();
    });

    test('live.D10 the ninth job of a sandbox is refused, also one that exec would leave; an ended one makes room', async () => {
      const id = await cell.create();
      const sleeper = { sandbox_id: id, argv: ['sleep', '1000'] };
      const jobs = await Promise.all(
        Array.from({ length: 8 }, () => cell.call<{ job_id: string }>('sandbox::exec_bg', sleeper)),
      );
      expect(await cell.failure('sandbox::exec_bg', sleeper)).toMatchObject({
        ...{ code: 'S400', message: expect.stringContaining('max concurrent jobs (8) reached') },
      });
      const more = { sandbox_id: id, argv: ['true'], background_after_ms: 1000 };
      expect(await cell.failure('sandbox::exec', more)).toMatchObject({ code: 'S400' });
      // Not counted with the commands, nor with the jobs of other sandboxes.
      expect(await cell.call('sandbox::exec', { sandbox_id: id, argv: ['true'] })).toMatchObject({ success: true });
      await kill(await start('exec sleep 1000'));
      await kill(jobs[0]!.job_id);
      await cell.call('sandbox::exec_bg', sleeper);
      await cell.call('sandbox::stop', { sandbox_id: id, wait: true });
    });
  });

  describe('the end of a sandbox', () => {
    test('live.D10 ends its jobs, whose output stays readable', async () => {
      const id = await cell.create();
      const argv = ['sh', '-c', 'echo kept; exec sleep 1000'];
      const { job_id } = await cell.call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id: id, argv });
      await output(job_id, { until: { pattern: 'kept' } });
      await cell.call('sandbox::stop', { sandbox_id: id, wait: true });
      expect(await ended(job_id)).toMatchObject({ status: 'killed', exit_code: null, done: true });
      expect(await cell.call('sandbox::status', { job_id })).toMatchObject({ job: { stdout: 'kept\n' } });
      expect(await cell.failure('sandbox::input', { job_id, text: 'x' })).toMatchObject({ code: 'S221' });
    });

    test('live.D10 comes when it is idle: a job that prints is use, a silent one is not', async () => {
      await using own = await serveSandboxes();
      const [printing, silent] = await Promise.all([1, 2].map(() => own.create({ idle_timeout_secs: 6 })));
      const run = (id: string, script: string) =>
        own.call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id: id, argv: ['sh', '-c', script] });
      await run(printing!, 'while :; do echo on; sleep 0.5; done');
      const { job_id } = await run(silent!, 'exec sleep 1000');
      const listed = async () =>
        (await own.call<{ sandboxes: { sandbox_id: string }[] }>('sandbox::list', {})).sandboxes.map(
          (one) => one.sandbox_id,
        );
      await expect.poll(listed, { timeout: CASE_PATIENCE_MS, interval: 500 }).toEqual([printing]);
      expect(await own.call('sandbox::status', { job_id })).toMatchObject({ job: { status: 'killed' } });
    });
  });
});
