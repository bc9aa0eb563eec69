/** Reading the output of a job while it runs, and waiting for it. */
import { once } from 'node:events';
import { createServer } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds, serveWorker, shellCases, tempDir, withEnoughTime, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';
import type { ShellContext } from '../worker.ts';

interface Output {
  status: string;
  exit_code: number | null;
  from: number;
  next: number;
  lost: number;
  text: string;
  pieces?: { stream: string; text: string }[];
  done: boolean;
  matched?: { by: string; offset?: number; line?: string };
}

const NO_JOB = 'job-00000000-0000-4000-8000-000000000000';

let dir: TempDir;
let worker: ServedWorker;
/** The worker's own context, to inspect its state. */
let context: ShellContext;
beforeAll(async () => {
  dir = await tempDir();
  const seen = {
    ...shell,
    open: async (...given: Parameters<typeof shell.open>) => (context = await shell.open(...given)),
  };
  const more = { allowlist: [], max_concurrent_jobs: 64, denylist_patterns: [], job_retention_secs: 600 };
  worker = await serveWorker(seen, shellCases(dir.root, more));
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

async function start(script: string, more: Record<string, unknown> = {}): Promise<string> {
  const payload = { command: 'sh', args: ['-c', script], ...more };
  return (await worker.call<{ job_id: string }>('shell::exec_bg', payload)).job_id;
}

const output = (job_id: string, more: Record<string, unknown> = {}) =>
  worker.call<Output>('shell::output', { job_id, ...('until' in more && { wait_ms: 60_000 }), ...more });
/** Number of bytes that were read from the job. */
const nextOf = async (job_id: string) =>
  (await worker.call<{ job: { next: number } }>('shell::status', { job_id })).job.next;
const ended = (job_id: string, more: Record<string, unknown> = {}) =>
  output(job_id, { until: { exit: true }, ...more });

describe('reading', () => {
  test('a wait for more output continues while only part of a character came', async () => {
    const job = await start("printf 'caf\\303'; read line; printf '\\251\\n'", { input: true });
    expect(await output(job, { wait_ms: 60_000 })).toMatchObject({ text: 'caf', next: 3 });
    await expect.poll(() => nextOf(job)).toBe(4);
    const waiting = output(job, { since: 3, wait_ms: 60_000 });
    await worker.call('shell::input', { job_id: job, text: 'go\n' });
    expect(await waiting).toMatchObject({ from: 3, text: 'é\n' });
  });

  test('live.D4 continues at next without a gap, and says when all was read', async () => {
    const job = await start('for n in 1 2 3 4 5 6 7 8 9; do echo line $n; done; exit 3');
    await ended(job);
    let text = '';
    for (let since = 0, isDone = false; !isDone;) {
      const part = await output(job, { since, max_bytes: 10 });
      expect(part).toMatchObject({ from: since, lost: 0, status: 'failed', exit_code: 3 });
      text += part.text;
      since = part.next;
      isDone = part.done;
    }
    expect(text).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `line ${n}\n`).join(''));
  });

  test('live.D4 says what came from which stream, and nothing more when all is standard output', async () => {
    const both = await start('echo out; echo err >&2; sleep 0.05; echo again');
    const { pieces, text } = await ended(both);
    expect(pieces!.map(({ stream, text: its }) => `${stream} ${its}`).toSorted()).toContain('stderr err\n');
    expect(pieces!.map((piece) => piece.text).join('')).toBe(text);
    expect(await ended(await start('echo out'))).not.toHaveProperty('pieces');
  });

  test('live.D4 what the ring dropped is counted, and status still has the beginning', async () => {
    const job = await start('i=0; while [ $i -lt 500 ]; do echo "line $i of the output"; i=$((i+1)); done', {
      ring_bytes: 1024,
    });
    const all = Array.from({ length: 500 }, (_, n) => `line ${n} of the output\n`).join('');
    const { from, lost, text, next, done } = await ended(job);
    expect({ from, lost, text, next, done }).toEqual({
      from: all.length - 1024,
      lost: all.length - 1024,
      text: all.slice(-1024),
      next: all.length,
      done: true,
    });
    const { job: record } = await worker.call<{ job: { stdout: string; next: number } }>('shell::status', {
      job_id: job,
    });
    expect(record).toMatchObject({ stdout: all.slice(0, 4096), next: all.length });
  });

  test('live.D18 a character that a read cuts comes whole with the next one', async () => {
    const text = 'grüße 😀 naïve '.repeat(20);
    const job = await start(`printf '%s' '${text}'`);
    await ended(job);
    for (const max_bytes of [1, 2, 3, 4, 5, 7, 64]) {
      let seen = '';
      for (let since = 0, isDone = false; !isDone;) {
        const part = await output(job, { since, max_bytes: Math.max(4, max_bytes) });
        seen += part.text;
        since = part.next;
        isDone = part.done;
      }
      expect(seen).toBe(text);
    }
  });

  test('live.D18 half a character waits for its other half, and an invalid byte is replaced', async () => {
    const job = await start(String.raw`printf 'a\303'; read x; printf '\244b\377c\303'`, { input: true });
    expect(await output(job, { wait_ms: 60_000, until: { pattern: 'a' } })).toMatchObject({ text: 'a', next: 1 });
    await worker.call('shell::input', { job_id: job, text: '\n' });
    expect(await ended(job, { since: 1 })).toMatchObject({ text: 'äb\uFFFDc\uFFFD', next: 7, done: true });
  });

  test('live.D17 colours and cursor movements are removed, also when a sequence is cut', async () => {
    const text = String.raw`\033[1;32mgreen\033[0m \033]0;title\007plain\033[2K\033(B \033[38;5;10mX`;
    const job = await start(`printf '${text}'`);
    expect((await ended(job, { strip_ansi: true })).text).toBe('green plain X');
    let seen = '';
    for (let since = 0, isDone = false; !isDone;) {
      const part = await output(job, { since, max_bytes: 12, strip_ansi: true });
      seen += part.text;
      since = part.next;
      isDone = part.done;
    }
    expect(seen).toBe('green plain X');
    expect((await output(job)).text).toContain('\u001B[1;32mgreen');
  });

  test.each([
    ['live.D16 an id that is not known', { job_id: NO_JOB }, 'S220'],
    ['live.D16 an id that was almost guessed', { job_id: 'job-' }, 'S220'],
    ['live.D3 an offset beyond the end', { since: 1 }, 'S223'],
    ['live.D3 a pattern that does not compile', { until: { pattern: '(' } }, 'S217'],
    ['live.D3 a pattern that is too long', { until: { pattern: 'x'.repeat(1025) } }, 'S210'],
    ['live.D3 nothing to wait for', { until: {} }, 'S210'],
    ['live.D3 a stream without a pattern', { until: { stream: 'stdout', exit: true } }, 'S210'],
    ['live.D3 a wait that is too long', { wait_ms: 600_001 }, 'S210'],
    ['live.D3 a port above 65535', { until: { port: 65_536 } }, 'S210'],
  ])('%s is refused', async (_, more, code) => {
    const job = await start('exec sleep 100');
    await expect(output(job, more)).rejects.toMatchObject({ code });
    await worker.call('shell::kill', { job_id: job });
  });
});

describe('waiting', () => {
  test('live.D2 for the line of a server that is ready', async () => {
    const job = await start('echo starting; sleep 0.1; echo "listening on 8080"; exec sleep 100');
    expect(await output(job, { until: { pattern: String.raw`listening on \d+` } })).toMatchObject({
      status: 'running',
      text: 'starting\nlistening on 8080\n',
      done: false,
      matched: { by: 'pattern', offset: 9, line: 'listening on 8080' },
    });
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D2 for a line that comes in two writes, on a stream of its own', async () => {
    const script = 'printf rea >&2; read go; printf "noise "; read go; printf "dy\\n" >&2; exec sleep 100';
    const job = await start(script, { input: true });
    const found = output(job, { until: { pattern: '^ready$' } });
    // Each write waits until the one before is read: both pipes at once have no order.
    for (const next of ['rea'.length, 'reanoise '.length]) {
      await expect.poll(() => nextOf(job)).toBe(next);
      await worker.call('shell::input', { job_id: job, text: '\n' });
    }
    expect((await found).matched).toEqual({ by: 'pattern', offset: 0, line: 'ready' });
    const elsewhere = await output(job, { until: { pattern: 'ready', stream: 'stdout' }, wait_ms: 100 });
    expect(elsewhere.matched).toEqual({ by: 'timeout' });
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D2 for an unfinished line, for one that is coloured, and not for one before since', async () => {
    const job = await start(String.raw`printf 'old ok\n\033[32mPass\033[0mword: '; exec sleep 100`);
    const pattern = '^Password: $';
    expect((await output(job, { until: { pattern }, strip_ansi: true })).matched).toMatchObject({
      offset: 7,
      line: 'Password: ',
    });
    expect((await output(job, { since: 7, until: { pattern: 'old' }, wait_ms: 50 })).matched).toEqual({
      by: 'timeout',
    });
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D2 a pattern that a job never prints ends with the job', async () => {
    const job = await start('echo one; sleep 0.05; echo two');
    expect(await output(job, { until: { pattern: 'three' } })).toMatchObject({
      status: 'finished',
      exit_code: 0,
      done: true,
      matched: { by: 'exit' },
    });
    expect((await output(job, { until: { pattern: 'two', exit: true } })).matched).toMatchObject({ by: 'pattern' });
  });

  test('live.D3 for quiet, which counts from the call on', async () => {
    const job = await start('echo a; sleep 0.05; echo b; exec sleep 100');
    const quiet = (idle_ms: number) => output(job, { until: { idle_ms } });
    const all = await withEnoughTime([300, 2000, 10_000], quiet, ({ next }) => next === 4);
    expect(all).toMatchObject({ text: 'a\nb\n', matched: { by: 'idle' } });
    expect((await output(job, { since: 4, until: { idle_ms: 5000 }, wait_ms: 50 })).matched).toEqual({ by: 'timeout' });
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D3 shell.P20 for the end, also of a job that is killed', async () => {
    const job = await start('exec sleep 100');
    const waiting = ended(job);
    await worker.call('shell::kill', { job_id: job });
    expect(await waiting).toMatchObject({ status: 'killed', exit_code: null, done: true, matched: { by: 'exit' } });
  });

  test.each(['127.0.0.1', '0.0.0.0', '::'])('live.D3 for a port that opens on %s', async (host) => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');

    const job = await start('exec sleep 100');
    expect((await output(job, { until: { port }, wait_ms: 100 })).matched).toEqual({ by: 'timeout' });
    const waiting = output(job, { until: { port } });
    const connections: unknown[] = [];
    const late = createServer((socket) => connections.push(socket)).listen(port, host);
    expect((await waiting).matched).toEqual({ by: 'port' });
    expect(connections).toEqual([]);
    late.close();
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D3 without a condition, for more output', async () => {
    const job = await start('read x; echo "got $x"; exec sleep 100', { input: true });
    expect(await output(job, { wait_ms: 20 })).toMatchObject({ text: '', matched: { by: 'timeout' } });
    const waiting = output(job, { wait_ms: 60_000 });
    await worker.call('shell::input', { job_id: job, text: 'it\n' });
    const { text, matched } = await waiting;
    expect({ text, matched }).toEqual({ text: 'got it\n', matched: undefined });
    await worker.call('shell::kill', { job_id: job });
  });

  test('live.D11 shell.P20 a wait that ended leaves nothing behind', async () => {
    const job = await start('exec sleep 100');
    const { ring } = context.jobs.get(job)!;
    const before = ring.listenerCount;
    const until = { pattern: 'never', idle_ms: 60_000, port: 1 };
    expect((await output(job, { until, wait_ms: 20 })).matched).toEqual({ by: 'timeout' });
    await expect.poll(() => ring.listenerCount).toBe(before);
    await worker.call('shell::kill', { job_id: job });
  });

  test.each(['cancels', 'disconnects'])(
    'live.D11 a caller that %s in the middle leaves nothing behind',
    async (way) => {
      const job = await start('exec sleep 100');
      const { ring } = context.jobs.get(job)!;
      const before = ring.listenerCount;
      const callers = await Promise.all(Array.from({ length: rounds(5, 20, 100) }, () => worker.connect('leaver')));
      const left = new AbortController();
      const until = { pattern: 'never', idle_ms: 60_000, port: 1, exit: true };
      const waits = Promise.allSettled(
        callers.map((caller) =>
          caller.call('shell::output', { job_id: job, until }, { signal: left.signal, onEvent: () => {} }),
        ),
      );
      // Listeners of each call: for its events, for its pattern and the end, and for a pause.
      await expect.poll(() => ring.listenerCount).toBe(before + 3 * callers.length);
      if (way === 'cancels') left.abort();
      else for (const caller of callers) caller.close();
      await expect.poll(() => ring.listenerCount).toBe(before);
      expect(new Set((await waits).map(({ status }) => status))).toEqual(new Set(['rejected']));
      for (const caller of callers) caller.close();
      await worker.call('shell::kill', { job_id: job });
    },
  );
});
