/** Streaming a job through channels. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { ChannelReader, ChannelRef } from '#protocol';
import { rounds, serveWorker, shellCases, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';
import type { ShellContext } from '../worker.ts';

interface Attached {
  reader: ChannelRef;
  writer?: ChannelRef;
  next: number;
}
interface Seen {
  out: string;
  err: string;
  lost: { at: number; bytes: number }[];
  errors?: string[];
  exit?: { at: number; status: string; exit_code: number | null };
}

let dir: TempDir;
let worker: ServedWorker;
let caller: Awaited<ReturnType<ServedWorker['connect']>>;
let context: ShellContext;
beforeAll(async () => {
  dir = await tempDir();
  const open = async (...given: Parameters<typeof shell.open>) => (context = await shell.open(...given));
  const more = { allowlist: [], max_concurrent_jobs: 64, denylist_patterns: [], job_retention_secs: 600 };
  worker = await serveWorker({ ...shell, open }, shellCases(dir.root, more));
  caller = await worker.connect('attacher');
});
afterAll(async () => {
  caller.close();
  await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

async function start(script: string, more: Record<string, unknown> = {}): Promise<string> {
  const payload = { command: 'sh', args: ['-c', script], ...more };
  return (await worker.call<{ job_id: string }>('shell::exec_bg', payload)).job_id;
}
const attach = (job_id: string, more: Record<string, unknown> = {}) =>
  worker.call<Attached>('shell::attach', { job_id, ...more });
const kill = (job_id: string) => worker.call('shell::kill', { job_id });

/** Reads until the end, or until `isEnough`. */
async function read(reader: ChannelReader, isEnough: (seen: Seen) => boolean = () => false): Promise<Seen> {
  const seen: Seen = { out: '', err: '', lost: [] };
  for await (const item of reader) {
    if (typeof item !== 'string') {
      seen.out += Buffer.from(item).toString('latin1');
    } else {
      const { t, ...frame } = JSON.parse(item) as { t: string; base64: string; code: string } & Seen['lost'][0] &
        NonNullable<Seen['exit']>;
      if (t === 'err') seen.err += Buffer.from(frame.base64, 'base64').toString('latin1');
      if (t === 'lost') seen.lost.push({ at: frame.at, bytes: frame.bytes });
      if (t === 'error') (seen.errors ??= []).push(frame.code);
      if (t === 'exit') seen.exit = { at: frame.at, status: frame.status, exit_code: frame.exit_code };
    }
    if (isEnough(seen)) break;
  }
  reader.cancel();
  return seen;
}

describe('attach', () => {
  test('live.D4 streams both outputs to the end, also when the job has ended before', async () => {
    const job = await start('echo out; echo err >&2; sleep 0.1; echo more; exit 4');
    const whole = { out: 'out\nmore\n', err: 'err\n', lost: [], exit: { at: 13, status: 'failed', exit_code: 4 } };
    expect(await read(await caller.openReader((await attach(job)).reader))).toEqual(whole);
    expect(await read(await caller.openReader((await attach(job)).reader))).toEqual(whole);
    const late = await attach(job, { since: 13 });
    expect(late.next).toBe(13);
    expect(await read(await caller.openReader(late.reader))).toEqual({ ...whole, out: '', err: '' });
  });

  test('live.D4 shell.P19 reattached at random offsets, every byte comes once', async () => {
    const lines = rounds(20_000, 100_000, 100_000);
    const job = await start(`seq 1 ${lines}; sleep 0.2; seq 1 ${lines}`, { ring_bytes: 16 * 2 ** 20 });
    const seq = Array.from({ length: lines }, (_, n) => `${n + 1}\n`).join('');
    let text = '';
    let isOver = false;
    for (let round = 0; round < 50 && !isOver; round++) {
      const enough = Math.floor(Math.random() * ((2 * seq.length) / 40));
      const { reader } = await attach(job, { since: text.length });
      const { out, lost, exit } = await read(
        await caller.openReader(reader),
        (seen) => round < 49 && seen.out.length > enough,
      );
      expect(lost).toEqual([]);
      text += out;
      isOver = exit !== undefined;
    }
    expect(isOver).toBe(true);
    expect(text === seq + seq).toBe(true);
  });

  test('live.D4 shell.P19 50 times at random offsets while it prints: the bytes from there on, or how many are gone', async () => {
    const [steps, lines, ring_bytes] = [50, rounds(500, 5000, 5000), 16_384];
    const whole = Array.from({ length: steps * lines }, (_, n) => `${n + 1}\n`).join('');
    const script = `n=0; while read -r go; do seq $((n + 1)) $((n + ${lines})); n=$((n + ${lines})); done`;
    const job = await start(script, { input: true, ring_bytes });
    for (let step = 0, known = 0; step < steps; step++) {
      await worker.call('shell::input', { job_id: job, text: 'go\n' });
      await worker.call('shell::output', { job_id: job, since: known, wait_ms: 60_000 });
      const since = Math.floor(Math.random() * (known + 1));
      const { reader, next } = await attach(job, { since });
      const enough = Math.min(next, since + Math.floor(Math.random() * 100_000));
      let at = since;
      for await (const item of await caller.openReader(reader)) {
        if (typeof item === 'string') {
          const lost = JSON.parse(item) as { at: number; bytes: number };
          expect(lost).toEqual({ t: 'lost', at, bytes: expect.any(Number) });
          at += lost.bytes;
        } else {
          const text = Buffer.from(item).toString('latin1');
          expect(text === whole.slice(at, at + text.length), `bytes from ${at} on`).toBe(true);
          at += text.length;
        }
        if (at >= enough) break;
      }
      known = next;
    }
    await worker.call('shell::input', { job_id: job, eof: true });
    const end = await worker.call('shell::output', {
      job_id: job,
      wait_ms: 60_000,
      until: { exit: true },
      max_bytes: ring_bytes,
    });
    expect(end).toMatchObject({ status: 'finished', next: whole.length, text: whole.slice(-ring_bytes) });
    const { lost } = await read(await caller.openReader((await attach(job)).reader));
    expect(lost).toEqual([{ at: 0, bytes: whole.length - ring_bytes }]);
  });

  test('live.D4 the reply counts exactly what the ring dropped', async () => {
    const job = await start('seq 1 5000', { ring_bytes: 2048 });
    const seq = Array.from({ length: 5000 }, (_, n) => `${n + 1}\n`).join('');
    await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { exit: true } });
    for (const since of [0, 17, seq.length - 2049]) {
      const { out, lost } = await read(await caller.openReader((await attach(job, { since })).reader));
      expect(lost).toEqual([{ at: since, bytes: seq.length - 2048 - since }]);
      expect(out).toBe(seq.slice(-2048));
    }
  });

  test('live.D5 shell.P19 a reader that stopped does not hold the job up, and learns what it missed', async () => {
    const bytes = rounds(50_000_000, 1_000_000_000, 1_000_000_000);
    const job = await start(`read go; head -c ${bytes} /dev/zero; echo over >&2`, { input: true });
    const stopped = await caller.openReader((await attach(job)).reader);
    await worker.call('shell::input', { job_id: job, text: 'go\n' });
    // The reader reads nothing while the job writes all of its output.
    const end = await worker.call(
      'shell::output',
      { job_id: job, until: { exit: true }, wait_ms: 60_000 },
      { timeoutMs: 90_000 },
    );
    expect(end).toMatchObject({ status: 'finished', lost: bytes + 5 - 2 ** 20 });
    const { out, err, lost, exit } = await read(stopped);
    expect(err).toBe('over\n');
    expect(out.length + lost.reduce((sum, one) => sum + one.bytes, 0)).toBe(bytes);
    expect(lost.length).toBeGreaterThan(0);
    expect(exit).toMatchObject({ at: bytes + 5, status: 'finished' });
  });

  test('live.D9 takes input, the end of it and signals through its writer', async () => {
    const job = await start(`trap 'echo int' INT; cat; while :; do sleep 0.05; done`, { input: true });
    const { reader, writer } = await attach(job, { input: true });
    const [output, input] = await Promise.all([caller.openReader(reader), caller.openWriter(writer!)]);
    await input.write(Buffer.from('typed\n'));
    await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { pattern: 'typed' } });
    await input.write('not json');
    await input.write('{"unknown":1}');
    await input.write('{"eof":true}');
    await input.write('{"signal":"INT"}');
    expect((await read(output, ({ out }) => out.includes('int'))).out).toBe('typed\nint\n');
    const again = await attach(job, { input: true });
    const more = await caller.openWriter(again.writer!);
    await more.write('{"signal":"KILL"}');
    expect((await read(await caller.openReader(again.reader))).exit).toMatchObject({ status: 'killed' });
  });

  test('live.D9 what is sent and not taken is answered with its code, and the channel stays open', async () => {
    const job = await start(`trap 'echo int' INT; cat; echo over; while :; do sleep 0.05; done`, { input: true });
    const { reader, writer } = await attach(job, { input: true });
    const [output, input] = await Promise.all([caller.openReader(reader), caller.openWriter(writer!)]);
    for (const item of ['not json', '{"unknown":1}', '{"eof":true}']) await input.write(item);
    await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { pattern: 'over' } });
    await input.write(Buffer.from('after eof\n'));
    await input.write('{"resize":[80,24]}');
    await input.write('{"signal":"INT"}');
    const { out, errors } = await read(output, ({ out }) => out.includes('int'));
    expect(out).toBe('over\nint\n');
    expect(errors).toEqual(['S210', 'S210', 'S221', 'S210']);
    await kill(job);
  });

  test('live.D4 leaving does not end the job, and frees the place', async () => {
    const job = await start('exec sleep 100', { input: true });
    for (let n = 0; n < 3; n++) {
      const { reader, writer } = await attach(job, { input: true });
      const left = await caller.openReader(reader);
      const input = await caller.openWriter(writer!);
      expect(context.live.attachments.count).toBe(1);
      left.cancel();
      await expect.poll(() => context.live.attachments.count).toBe(0);
      await expect.poll(() => input.write('x').then(String, () => 'gone')).toBe('gone');
    }
    expect(await worker.call('shell::status', { job_id: job })).toMatchObject({ job: { status: 'running' } });
    await kill(job);
  });

  test('live.D6 eight attach to one job, a ninth is refused', async () => {
    const job = await start('exec sleep 100');
    const readers = await Promise.all(
      Array.from({ length: 8 }, async () => caller.openReader((await attach(job)).reader)),
    );
    await expect(attach(job)).rejects.toMatchObject({ code: 'S224' });
    for (const reader of readers) reader.cancel();
    await expect.poll(() => context.live.attachments.count).toBe(0);
    expect(await attach(job)).toMatchObject({ next: 0 });
    await kill(job);
  });

  test.each([
    ['live.D16 a job that is not known', { job_id: 'job-00000000-0000-4000-8000-000000000000' }, 'S220'],
    ['live.D9 input of a job without', { input: true }, 'S221'],
    ['live.D4 an offset beyond the end', { since: 1 }, 'S223'],
    ['live.D4 a negative offset', { since: -1 }, 'S210'],
  ])('%s is refused', async (_, more, code) => {
    const job = await start('exec sleep 100');
    await expect(attach(job, more)).rejects.toMatchObject({ code });
    await kill(job);
  });
});
