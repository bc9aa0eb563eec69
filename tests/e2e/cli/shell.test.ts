/** Commands and background jobs from the command line and over HTTP, through a Workcell as it is started. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'sub/a.txt': 'hello\n' });
  const files = await tempDir({
    'cell.yaml':
      'workers: [{name: shell, config: {allowlist: [sh, ls, cat, pwd, sleep, printenv, absent], max_output_bytes: 100}}]',
  });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root, '-c', files.path('cell.yaml')]);
  await files[Symbol.asyncDispose]();
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const run = (...args: string[]) => runCli(args, { env: { III_URL: cell.url } });

describe.concurrent('exec', () => {
  test.each<[string, string[], { code: number; stdout?: string; stderr?: string }]>([
    ['runs in the workspace', ['--', 'pwd'], { code: 0, stdout: '$W\n' }],
    ['runs in a directory of it', ['--cwd', 'sub', '--', 'cat', 'a.txt'], { code: 0, stdout: 'hello\n' }],
    [
      'passes both streams and the exit code',
      ['--', 'sh', '-c', 'echo out; echo err >&2; exit 7'],
      { code: 7, stdout: 'out\n', stderr: 'err\n' },
    ],
    [
      'passes words as they are',
      ['--', 'sh', '-c', 'printf "%s|" "$@"', 'x', 'a b', '--json', '*'],
      { code: 0, stdout: 'a b|--json|*|' },
    ],
    [
      'sets variables',
      ['--env', 'LANG=x=y', '--env', 'TERM=', '--', 'printenv', 'LANG', 'TERM'],
      { code: 0, stdout: 'x=y\n\n' },
    ],
    [
      'exits with 124 on a timeout',
      ['--timeout-ms', '100', '--', 'sleep', '20'],
      { code: 124, stderr: 'workcell: timed out\n' },
    ],
    ['exits with 1 after a signal', ['--', 'sh', '-c', 'kill -9 $$'], { code: 1 }],
    [
      'live.D1 prints all output, also beyond max_output_bytes',
      ['--', 'sh', '-c', 'printf %0200d 0'],
      { code: 0, stdout: '0'.repeat(200) },
    ],
    [
      'cli.C06 exits with 126 when the policy refuses the program',
      ['--', 'touch', 'x'],
      {
        code: 126,
        stderr:
          "Error: [invocation_failed] command 'touch' not in allowlist; allowed are sh, ls, cat, pwd, sleep, printenv, absent, and the operator can add to shell.allowlist\n",
      },
    ],
    [
      'cli.C06 exits with 127 when the program is not there',
      ['--', 'absent'],
      { code: 127, stderr: 'Error: [S216] host exec: absent was not found\n' },
    ],
    [
      'cli.C06 exits with 125 when Workcell itself fails',
      ['--cwd', 'none', '--', 'ls'],
      { code: 125, stderr: expect.stringMatching(/^Error: \[\w+\] .*none/) },
    ],
    [
      'cli.C06 needs a command',
      [],
      { code: 125, stderr: 'Error: exec needs a command after --, such as: workcell exec -- ls -la\n' },
    ],
    ['needs it after --', ['ls'], { code: 125, stderr: 'Error: exec does not take "ls"\n' }],
    [
      'needs variables with a value',
      ['--env', 'LANG', '--', 'ls'],
      { code: 125, stderr: 'Error: --env "LANG" is not NAME=VALUE\n' },
    ],
    [
      'needs whole milliseconds',
      ['--timeout-ms', '1s', '--', 'ls'],
      { code: 125, stderr: 'Error: --timeout-ms must be a whole number (got 1s)\n' },
    ],
  ])('%s', async (_, args, expected) => {
    const outcome = await run('exec', ...args);
    const stdout = (expected.stdout ?? '').replace('$W', dir.root);
    expect(outcome).toEqual({ stderr: '', ...expected, stdout });
  });

  test('prints the reply as JSON and keeps the exit code', async () => {
    const { code, stdout } = await run('exec', '--json', '--', 'sh', '-c', 'exit 4');
    expect({ code, reply: JSON.parse(stdout) }).toMatchObject({ code: 4, reply: { exit_code: 4, timed_out: false } });
  });

  test('passes standard input on when asked to', async () => {
    const built = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    const line = `printf 'a b' | "${process.execPath}" "${built}" exec --stdin -- cat`;
    const outcome = await runCli(['-c', line], { bin: 'sh', env: { III_URL: cell.url } });
    expect(outcome).toEqual({ code: 0, stdout: 'a b', stderr: '' });
  });

  test('asks for a sandbox by its id', async () => {
    expect(await run('exec', '--sandbox', 'x', '--', 'ls')).toEqual({
      code: 125,
      stdout: '',
      stderr: 'Error: [invocation_failed] `target.sandbox_id`: must be a UUID\n',
    });
  });
});

describe('jobs', () => {
  test('are listed, shown and killed', async () => {
    const script = 'echo printed; sleep 600';
    const started = await run(
      'call',
      'shell::exec_bg',
      '--json',
      JSON.stringify({ command: 'sh', args: ['-c', script] }),
    );
    const { job_id } = JSON.parse(started.stdout) as { job_id: string };
    await expect
      .poll(async () => run('jobs', 'status', job_id))
      .toEqual({ code: 0, stdout: 'printed\n', stderr: `workcell: sh -c ${script}: running\n` });

    const listed = await run('jobs', 'list');
    expect(listed.stdout).toMatch(new RegExp(`^JOB +STATUS +EXIT +AGE +RAN\n${job_id} +running +\\d+s +\\d+s\n$`));
    const asJson = await run('jobs', 'list', '--json');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ count: 1, jobs: [{ id: job_id, status: 'running' }] });

    expect(await run('jobs', 'kill', job_id)).toEqual({ code: 0, stdout: `${job_id}: killed\n`, stderr: '' });
    expect(await run('jobs', 'kill', job_id)).toEqual({
      code: 1,
      stdout: `${job_id}: killed (not running)\n`,
      stderr: '',
    });
    const shown = await run('jobs', 'status', job_id, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ job: { id: job_id, status: 'killed', stdout: 'printed\n' } });
  });

  test('cli.C05 that are unknown are reported in the one shape of errors, and as JSON if asked', async () => {
    const [plain, asJson] = await Promise.all([
      run('jobs', 'status', 'job-x'),
      run('jobs', 'status', 'job-x', '--json'),
    ]);
    expect(plain).toEqual({ code: 1, stdout: '', stderr: 'Error: [invocation_failed] no such job: job-x\n' });
    expect({ code: asJson.code, failure: JSON.parse(asJson.stderr) }).toEqual({
      code: 1,
      failure: { code: 'invocation_failed', message: 'no such job: job-x' },
    });
  });

  test('shell.P9 end with the Workcell that runs them', async () => {
    await using own = await tempDir({ watched: '' });
    const other = await startCli(['start', '--port', '0', '--workspace', own.root]);
    const request = JSON.stringify({ command: 'tail', args: ['-f', own.path('watched')] });
    await runCli(['call', 'shell::exec_bg', '--json', request, '--url', other.url]);
    expect(processesOf(own.path('watched'))).toHaveLength(1);

    expect(await other.stop()).toBe(0);
    expect(processesOf(own.path('watched'))).toEqual([]);
  });
});

/** Processes that were started with the word. */
function processesOf(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

test('a refusal is 400 over HTTP, and a command that fails is 200', async () => {
  const post = async (payload: unknown) => {
    const reply = await fetch(`${cell.http}/functions/shell/exec`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    return [reply.status, await reply.json()];
  };
  expect(await post({ command: 'touch' })).toEqual([
    400,
    {
      error: {
        code: 'invocation_failed',
        message:
          "command 'touch' not in allowlist; allowed are sh, ls, cat, pwd, sleep, printenv, absent, and the operator can add to shell.allowlist",
      },
    },
  ]);
  expect(await post({ command: 'sh', args: ['-c', 'exit 2'] })).toMatchObject([200, { exit_code: 2 }]);
});
