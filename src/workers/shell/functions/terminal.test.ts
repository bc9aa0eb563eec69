/** Programs that want a terminal, through the functions of shell. */
import { existsSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { serveWorker, shellCases, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../index.ts';

const hasVim = ['/usr/bin/vim', '/usr/bin/vi'].find((path) => existsSync(path));

let dir: TempDir;
let worker: ServedWorker;
beforeAll(async () => {
  dir = await tempDir();
  const more = { allowlist: [], denylist_patterns: [], max_concurrent_jobs: 64, job_retention_secs: 600 };
  worker = await serveWorker(shell, shellCases(dir.root, more));
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

const start = async (command: string, args: string[] = [], more: Record<string, unknown> = {}) =>
  (
    await worker.call<{ job_id: string }>('shell::exec_bg', {
      ...{ command, args, cwd: dir.root, terminal: { cols: 80, rows: 24 }, ...more },
    })
  ).job_id;
const type = (job_id: string, text: string) => worker.call<{ next: number }>('shell::input', { job_id, text });
/** The output up to a line that matches; fails when none came in time. */
const until = async (job_id: string, pattern: string, since = 0) => {
  const request = { job_id, since, wait_ms: 60_000, until: { pattern }, strip_ansi: true };
  const found = await worker.call<{ text: string; matched: { by: string } }>('shell::output', request);
  expect(found.matched.by, `${pattern} in ${JSON.stringify(found.text)}`).toBe('pattern');
  return found;
};
/** The prompt of bash ends in a sign that depends on the user. */
const PROMPT = '[$#] $';

describe('a terminal', () => {
  test('live.D6 of an interactive shell has job control: Ctrl-C, Ctrl-Z and fg', async () => {
    const job = await start('bash', ['--norc', '--noprofile', '-i'], { env: {} });
    await until(job, PROMPT);
    const { next } = await type(job, `sh -c 'echo up; exec sleep 100'\n`);
    // Not the echo of the input: the program runs and reads the keys.
    await until(job, String.raw`^\r?up$`, next);
    await type(job, '\x1a');
    await until(job, 'Stopped', next);
    const fg = await type(job, 'fg\n');
    await until(job, 'exec sleep 100', fg.next);
    // bash prints the line before the program has the terminal: a key may come too early.
    const interrupted = async () => {
      await type(job, '\x03');
      const request = { job_id: job, since: fg.next, wait_ms: 500, until: { pattern: PROMPT } };
      return worker.call('shell::output', request);
    };
    await expect.poll(interrupted).toMatchObject({ matched: { by: 'pattern' } });
    await type(job, 'echo "ended with $?"\n');
    await until(job, 'ended with 130', fg.next);
    await type(job, 'exit 7\n');
    const end = await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { exit: true } });
    expect(end).toMatchObject({ status: 'failed', exit_code: 7 });
    expect((end as { text: string }).text).not.toContain('no job control');
  });

  test('live.D6 takes a password that is read from /dev/tty, without showing it', async () => {
    const script =
      'stty -echo < /dev/tty; printf "Password: " > /dev/tty; read -r p < /dev/tty; stty echo < /dev/tty; echo "length ${#p}"';
    const job = await start('sh', ['-c', script]);
    await until(job, 'Password: $');
    await type(job, 'secret\n');
    const { text } = await until(job, 'length 6');
    expect(text).not.toContain('secret');
  });

  const whyNoVim = hasVim === undefined ? ' (vim is missing. To install: apt-get install -y vim-tiny)' : '';
  test.skipIf(!hasVim)(`live.D6 opens an editor, which writes a file and quits${whyNoVim}`, async () => {
    const job = await start(hasVim!, ['-u', 'NONE', 'note.txt']);
    await until(job, 'note.txt');
    await type(job, 'ihello\x1b:wq\n');
    expect(await worker.call('shell::output', { job_id: job, wait_ms: 60_000, until: { exit: true } })).toMatchObject({
      exit_code: 0,
    });
    expect(await worker.call('shell::exec', { command: 'cat', args: ['note.txt'], cwd: dir.root })).toMatchObject({
      stdout: 'hello\n',
    });
  });

  test('live.D6 is xterm-256color unless the call says, and status has its size', async () => {
    const job = await start('sh', ['-c', 'echo "TERM=$TERM"; read x; stty size']);
    expect((await until(job, 'TERM=')).text).toBe('TERM=xterm-256color\r\n');
    expect(await worker.call('shell::status', { job_id: job })).toMatchObject({
      job: { terminal: true, cols: 80, rows: 24 },
    });
    await worker.call('shell::input', { job_id: job, cols: 132, rows: 50 });
    await type(job, '\n');
    await until(job, '50 132');
    expect(await worker.call('shell::status', { job_id: job })).toMatchObject({ job: { cols: 132, rows: 50 } });
    const own = await start('sh', ['-c', 'echo "TERM=$TERM"'], { env: { TERM: 'vt100' } });
    expect((await until(own, 'TERM=')).text).toBe('TERM=vt100\r\n');
  });

  test.each([
    ['without a terminal', { input: true, terminal: null }, { cols: 80, rows: 24 }],
    ['with one number', {}, { cols: 80 }],
    ['of no width', {}, { cols: 0, rows: 24 }],
  ])('live.D6 a size %s is refused', async (_, more, asked) => {
    const job = await start('sleep', ['100'], more);
    await expect(worker.call('shell::input', { job_id: job, ...asked })).rejects.toMatchObject({ code: 'S210' });
    await worker.call('shell::kill', { job_id: job });
  });
});
