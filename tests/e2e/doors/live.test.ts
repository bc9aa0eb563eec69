/** `workcell exec`, `jobs logs` and `jobs attach` on real terminals: those of jobs of this test. */
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import { parseConfig, silentLog } from '#contract';
import { Children, type ChildSpec } from '#host';
import { startWorkcell, type RunningWorkcell } from '../../../src/assembly/workcell.ts';
import { runCli } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { shell } from '../../../src/workers/shell/index.ts';

const BUILT = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

let dir: TempDir;
let cell: RunningWorkcell;
let bus: Connection;
let children: Children;
beforeAll(async () => {
  dir = await tempDir();
  const config = { allowlist: [], denylist_patterns: [], fs: { host_root: dir.root }, max_concurrent_jobs: 64 };
  const entries = [{ def: shell, config: parseConfig(shell.config, config, 'shell') }];
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, log: silentLog, entries });
  bus = await connect(cell.url, { name: 'test' });
  children = await Children.open();
});
afterAll(async () => {
  bus.close();
  await children.close();
  await cell.close();
  await dir[Symbol.asyncDispose]();
});

async function start(script: string, more: Record<string, unknown> = {}): Promise<string> {
  const request = { command: 'sh', args: ['-c', script], ...more };
  return ((await bus.call('shell::exec_bg', request)) as { job_id: string }).job_id;
}

/** The command line in a terminal of its own. */
async function inTerminal(args: string[], more: Partial<ChildSpec> = {}) {
  const work = await children.start({
    ...{ argv: [process.execPath, BUILT, ...args], env: { PATH: process.env.PATH!, III_URL: cell.url } },
    ...{ maxOutputBytes: 100_000, terminal: { columns: 90, rows: 20 }, keepsInput: true, ...more },
  });
  const seen = () => work.outputSoFar().stdout.toString();
  return { work, type: (text: string) => work.process.input!.write(Buffer.from(text)), seen };
}

test('live.D1 exec prints a line while the command runs, and leaves what it prints to no terminal', async () => {
  const { work, seen } = await inTerminal([
    'exec',
    '--cwd',
    dir.root,
    '--',
    'sh',
    '-c',
    'echo one; while [ ! -e go ]; do sleep 0.02; done; printf "\\033[31mtwo"; exit 5',
  ]);
  await expect.poll(seen).toBe('one\r\n');
  await bus.call('shell::exec', { command: 'touch', args: ['go'], cwd: dir.root });
  const { exitCode, stdout } = await work.done;
  expect({ exitCode, text: stdout.toString() }).toEqual({ exitCode: 5, text: 'one\r\n\\u001b[31mtwo' });
});

test('live.D1 exec passes 20 MB on without a gap', async () => {
  const { stdout, code } = await runCli(
    ['-c', `"${process.execPath}" "${BUILT}" exec -- head -c 20000000 /dev/zero | wc -c`],
    {
      bin: 'sh',
      env: { III_URL: cell.url },
    },
  );
  expect({ code, count: Number(stdout) }).toEqual({ code: 0, count: 20_000_000 });
});

test('live.D4 logs prints what is there, and with -f what comes', async () => {
  const job = await start('echo one; echo err >&2; read x; echo "two $x"', { input: true });
  await bus.call('shell::output', { job_id: job, until: { pattern: 'err' } });
  const run = (...args: string[]) => runCli(args, { env: { III_URL: cell.url } });
  expect(await run('jobs', 'logs', job)).toEqual({ code: 0, stdout: 'one\n', stderr: 'err\n' });
  const following = run('jobs', 'logs', '-f', job);
  await bus.call('shell::input', { job_id: job, text: 'x\n' });
  expect(await following).toEqual({ code: 0, stdout: 'one\ntwo x\n', stderr: 'err\n' });
  expect(await run('jobs', 'logs', 'job-x')).toMatchObject({ code: 1, stderr: expect.stringContaining('S220') });
});

test('live.D6 attach is a terminal: keys, size, detach, attach again, exit code', async () => {
  const job = await start(
    'stty size; trap "echo int" INT; while :; do read -r x || continue; echo "got $x"; stty size; [ "$x" = end ] && exit 9; done',
    {
      terminal: { cols: 80, rows: 24 },
    },
  );
  const first = await inTerminal(['jobs', 'attach', job]);
  await expect.poll(first.seen).toContain('24 80\r\n');
  await first.type('hello\r');
  // The size of the terminal that is attached.
  await expect.poll(first.seen).toContain('got hello\r\n20 90\r\n');
  await first.type('\x03');
  await expect.poll(first.seen).toContain('int\r\n');
  await first.type('\x10\x11');
  expect((await first.work.done).exitCode).toBe(0);
  expect(await bus.call('shell::status', { job_id: job })).toMatchObject({ job: { status: 'running' } });

  const second = await inTerminal(['jobs', 'attach', job]);
  await expect.poll(second.seen).toContain('got hello');
  await second.type('end\r');
  expect((await second.work.done).exitCode).toBe(9);
});

test('live.D9 attach passes piped input on, to a job without a terminal', async () => {
  const job = await start('wc -c', { input: true });
  const line = `printf 'a b c' | "${process.execPath}" "${BUILT}" jobs attach ${job}`;
  const outcome = await runCli(['-c', line], { bin: 'sh', env: { III_URL: cell.url } });
  expect(outcome).toEqual({ code: 0, stdout: '5\n', stderr: '' });
});
