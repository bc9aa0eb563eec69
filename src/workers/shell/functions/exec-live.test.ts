/** A command in the foreground whose caller reads its output while it runs, or turns it into a job. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CallEvent } from '#contract';
import { serveWorker, shellCases, tempDir, withEnoughTime, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';

let dir: TempDir;
let worker: ServedWorker;
let caller: Awaited<ReturnType<ServedWorker['connect']>>;
beforeAll(async () => {
  dir = await tempDir();
  const more = { allowlist: [], denylist_patterns: [], job_retention_secs: 600, max_timeout_ms: 60_000 };
  worker = await serveWorker(shell, shellCases(dir.root, more));
  caller = await worker.connect('watcher');
});
afterAll(async () => {
  caller.close();
  await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

const command = (script: string) => ({ command: 'sh', args: ['-c', script] });
/** Continues when the file exists. */
const untilFile = (name: string) => `while [ ! -e ${name} ]; do sleep 0.01; done`;
/** Prints until nothing more is taken for a second, without waiting in a write, and leaves the count in a file. */
const fillsBuffers = {
  command: 'perl',
  args: [
    '-MFcntl',
    '-e',
    `fcntl STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK;
     for (my $idle = 0; $idle < 20; ) {
       my $printed = syswrite STDOUT, "x" x 4096;
       if (defined $printed) { $count += $printed; $idle = 0 } else { $idle++; select undef, undef, undef, 0.05 }
     }
     open my $file, ">", "printed"; print $file $count;`,
  ],
};

describe('events', () => {
  test('live.D1 a watcher gets each line while the command runs, and then the same answer as without', async () => {
    const heard: CallEvent[] = [];
    const script = `echo one; ${untilFile('go')}; echo two >&2; echo three`;
    const options = {
      onEvent(event: CallEvent) {
        heard.push(event);
        // The command ends only because its first line arrived while it ran.
        if (event.text === 'one\n') void worker.call('shell::fs::write', { path: `${dir.root}/go`, content: '' });
      },
    };
    const payload = { ...command(script), cwd: dir.root, timeout_ms: 60_000 };
    const { stdout, stderr } = await worker.call('shell::exec', payload, options);
    expect({ stdout, stderr }).toEqual({ stdout: 'one\nthree\n', stderr: 'two\n' });
    expect(heard[0]).toEqual({ type: 'output', stream: 'stdout', text: 'one\n', offset: 4, message: 'one' });
    expect(heard.map(({ text }) => text).join('').length).toBe(14);
    expect(heard.at(-1)!.offset).toBe(14);
    expect(heard.find(({ stream }) => stream === 'stderr')).toMatchObject({ text: 'two\n', message: 'two' });
  });

  test('live.D12 the message is the last line, without colours', async () => {
    const heard: CallEvent[] = [];
    const script = String.raw`printf 'a\nb\n\033[32m50 %%\033[0m\r\033[32m60 %%\033[0m'`;
    await worker.call('shell::exec', command(script), { onEvent: (event) => void heard.push(event) });
    expect(heard.at(-1)).toMatchObject({ message: '60 %' });
  });

  test('live.D5 a flood is reported in part, the rest counted as lost', async () => {
    const heard: CallEvent[] = [];
    const flood = { ...command('head -c 50000000 /dev/zero'), timeout_ms: 60_000 };
    await worker.call('shell::exec', flood, { onEvent: (event) => void heard.push(event) });
    const lost = heard.reduce((sum, event) => sum + ((event.lost as number | undefined) ?? 0), 0);
    const seen = heard.reduce((sum, { text }) => sum + (text as string).length, 0);
    expect(lost + seen).toBe(50_000_000);
    expect(heard.at(-1)!.offset).toBe(50_000_000);
  });
});

describe('output', () => {
  async function piped(script: string, more: Record<string, unknown> = {}) {
    const { reader, writer } = await caller.createChannel();
    const call = worker.call('shell::exec', { ...command(script), output: writer, timeout_ms: 60_000, ...more });
    const seen = { out: [] as Buffer[], err: [] as Buffer[] };
    for await (const item of await caller.openReader(reader)) {
      if (typeof item !== 'string') seen.out.push(Buffer.from(item));
      else seen.err.push(Buffer.from((JSON.parse(item) as { base64: string }).base64, 'base64'));
    }
    return { reply: await call, out: Buffer.concat(seen.out), err: Buffer.concat(seen.err) };
  }

  test('live.D1 a channel gets all of it, also what the answer has no room for', async () => {
    const { reply, out, err } = await piped(String.raw`seq 1 100000; printf '\377\000' >&2`);
    const all = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join('');
    expect(out.equals(Buffer.from(all))).toBe(true);
    expect([...err]).toEqual([255, 0]);
    expect(reply).toMatchObject({ exit_code: 0, stdout: all.slice(0, 4096), stdout_truncated: true, streamed: true });
  });

  test('live.D5 what a command wrote last reaches a reader that comes long after its end', async () => {
    const { reader, writer } = await caller.createChannel(1);
    const items = await caller.openReader(reader);
    const call = worker.call('shell::exec', { ...fillsBuffers, output: writer, timeout_ms: 60_000, cwd: dir.root });
    await expect.poll(() => existsSync(dir.path('printed'))).toBe(true);
    await passed(500);
    let bytes = 0;
    for await (const item of items) bytes += item.length;
    // More than a pipe holds: the server buffered the rest.
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBe(Number(readFileSync(dir.path('printed'), 'utf8')));
    expect(await call).toMatchObject({ exit_code: 0 });
  });

  test('live.D5 the command waits for a slow reader as for a pipe, and is killed at its timeout', async () => {
    const { reader, writer } = await caller.createChannel(1);
    const unread = await caller.openReader(reader);
    const reply = await worker.call('shell::exec', { ...command('cat /dev/zero'), output: writer, timeout_ms: 300 });
    expect(reply).toMatchObject({ timed_out: true, exit_code: null });
    unread.cancel();
  });

  test('live.D1 a channel that is not there, or the wrong end of one, is refused before anything runs', async () => {
    const { reader, writer } = await caller.createChannel();
    for (const output of [reader, { ...writer, access_key: 'guessed' }]) {
      const call = worker.call('shell::exec', { ...command('touch ran'), cwd: dir.root, output });
      await expect(call).rejects.toMatchObject({ code: 'S210' });
    }
    expect(await worker.call('shell::exec', { command: 'ls', args: [dir.root] })).toMatchObject({
      stdout: expect.not.stringContaining('ran'),
    });
  });

  test('live.D1 a reader that leaves does not end the command', async () => {
    const { reader, writer } = await caller.createChannel();
    (await caller.openReader(reader)).cancel();
    expect(await worker.call('shell::exec', { ...command('seq 1 5'), output: writer })).toMatchObject({
      stdout: '1\n2\n3\n4\n5\n',
      exit_code: 0,
    });
  });
});

describe('background_after_ms', () => {
  test('live.D13 a command that still runs becomes a job, with its output and without its timeout', async () => {
    const start = (afterMs: number) =>
      worker.call<{ job_id: string; next: number; stdout: string }>('shell::exec', {
        ...command(`echo begun; sleep ${(afterMs + 600) / 1000}; echo over`),
        background_after_ms: afterMs,
        timeout_ms: afterMs + 300,
      });
    const reply = await withEnoughTime([200, 1000, 5000], start, ({ stdout }) => stdout !== '');
    expect(reply).toMatchObject({ exit_code: null, timed_out: false, stdout: 'begun\n', next: 6 });
    const { job_id, next } = reply;
    expect(
      await worker.call('shell::output', { job_id, since: next, wait_ms: 60_000, until: { exit: true } }),
    ).toMatchObject({
      status: 'finished',
      text: 'over\n',
      done: true,
    });
    expect(await worker.call('shell::status', { job_id })).toMatchObject({ job: { stdout: 'begun\nover\n' } });
  });

  test('live.D13 the job outlives its caller', async () => {
    const leaver = await worker.connect('leaver');
    const { job_id } = (await leaver.call('shell::exec', {
      ...command('exec sleep 100'),
      background_after_ms: 50,
    })) as {
      job_id: string;
    };
    leaver.close();
    await worker.call('shell::output', { job_id, wait_ms: 100 });
    expect(await worker.call('shell::kill', { job_id })).toMatchObject({ killed: true });
  });

  test('live.D13 a command that ends before, or whose own timeout comes first, is answered as ever', async () => {
    const quick = await worker.call('shell::exec', { ...command('echo quick'), background_after_ms: 20_000 });
    expect(quick).toMatchObject({ exit_code: 0, stdout: 'quick\n' });
    expect(quick).not.toHaveProperty('job_id');
    const late = { ...command('exec sleep 100'), background_after_ms: 20_000, timeout_ms: 100 };
    expect(await worker.call('shell::exec', late)).toMatchObject({ timed_out: true });
    expect(await worker.call('shell::list')).not.toMatchObject({ jobs: [{ status: 'running' }] });
  });

  test('live.D13 a channel ends when the command becomes a job, even if it is not read', async () => {
    const { reader, writer } = await caller.createChannel(1);
    const unread = await caller.openReader(reader);
    const flood = { ...command('cat /dev/zero'), output: writer, background_after_ms: 100 };
    const { job_id, next } = await worker.call<{ job_id: string; next: number }>('shell::exec', flood);
    // More output comes: the job does not wait for the reader of the channel.
    const more = await worker.call('shell::output', { job_id, since: next, wait_ms: 60_000 });
    expect(more).toMatchObject({ status: 'running' });
    expect(more).not.toHaveProperty('matched');
    await worker.call('shell::kill', { job_id });
    unread.cancel();
  });

  test('live.D13 is refused when there is no room for another job', async () => {
    const jobs = await Promise.all(
      [1, 2].map(() => worker.call<{ job_id: string }>('shell::exec_bg', command('exec sleep 100'))),
    );
    const asked = { ...command('echo x'), background_after_ms: 100 };
    await expect(worker.call('shell::exec', asked)).rejects.toThrow('max concurrent jobs (2) reached');
    for (const { job_id } of jobs) await worker.call('shell::kill', { job_id });
    expect(await worker.call('shell::exec', asked)).toMatchObject({ stdout: 'x\n' });
  });
});
