import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, SLOWNESS, whyNoSandbox, type SandboxCases } from '#testing';

const NONE = '00000000-0000-4000-8000-000000000000';
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

interface Reply {
  stdout: string;
  stderr: string;
  exit_code: number;
  success: boolean;
  [more: string]: unknown;
}

const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`sandbox::exec${why === undefined ? '' : ` (${why})`}`, () => {
  let cell: SandboxCases;
  let sandbox_id: string;
  beforeAll(async () => {
    cell = await serveSandboxes();
    sandbox_id = await cell.create({ env: { A: '1' } });
  }, IMAGE_PATIENCE_MS);
  afterAll(() => cell?.[Symbol.asyncDispose]());

  const exec = (request: object) => cell.call<Reply>('sandbox::exec', { sandbox_id, ...request });
  const failure = (request: object) => cell.failure('sandbox::exec', { sandbox_id, ...request });

  test("returns every field of a command's result", async () => {
    expect(await exec({ cmd: 'echo hi' })).toEqual({
      stdout: 'hi\n',
      stderr: '',
      exit_code: 0,
      timed_out: false,
      duration_ms: expect.any(Number),
      success: true,
      stdout_truncated: false,
      stderr_truncated: false,
    });
  });

  test.each([
    ['sandbox.C2', { cmd: 'echo $HOME && pwd' }, '$HOME && pwd\n'],
    ['sandbox.C3', { cmd: `echo a\\ b "c  d" 'e"f' # tail` }, 'a b c  d e"f\n'],
    ['sandbox.C9', { cmd: '/bin/echo', args: ['; rm -rf /', '$(id)'] }, '; rm -rf / $(id)\n'],
    ['sandbox.C11 exec on top', { argv: ['printenv', 'A'], env: { A: '2' } }, '2\n'],
    ['sandbox.C11 of the sandbox', { argv: ['printenv', 'A'] }, '1\n'],
    ['sandbox.C12', { argv: ['printenv', 'npm_config_x'], env: { npm_config_x: 'y' } }, 'y\n'],
    ['sandbox.C24 workdir', { cmd: 'pwd', workdir: '/usr' }, '/usr\n'],
    ['sandbox.C24 none', { cmd: 'pwd' }, '/\n'],
    ['nothing to read', { cmd: 'cat' }, ''],
  ])('%s', async (_, request, stdout) => {
    expect(await exec(request)).toMatchObject({ stdout, exit_code: 0, success: true });
  });

  test.each([
    ['sandbox.C5 argv and a cmd with white space', { argv: ['a'], cmd: 'b c' }, 'argv'],
    ['sandbox.C5 argv and args', { argv: ['a'], args: ['b'] }, 'argv'],
    ['sandbox.C6', { cmd: "echo 'x" }, 'unbalanced'],
    ['sandbox.C12', { cmd: 'true', env: { 'a-b': '1' } }, 'a-b'],
    ['sandbox.C12 as a list', { cmd: 'true', env: ['a-b=1'] }, 'a-b'],
    ['sandbox.C14', { cmd: 'cat', stdin: '!!' }, 'base64'],
    ['a workdir that is not there', { cmd: 'true', workdir: '/no/where' }, 'workdir /no/where'],
    ['a line of more than 4 MiB', { cmd: `echo ${'x '.repeat(2_100_000)}` }, 'the command is 4200006 bytes'],
    ['words of more than 4 MiB', { argv: ['echo', 'x'.repeat(4_200_000)] }, 'the command is 4200007 bytes'],
    ['an environment of more than 4 MiB', { cmd: 'true', env: { B: 'x'.repeat(4_200_000) } }, 'with its environment'],
  ])('%s is S001', async (_, request, words) => {
    expect(await failure(request)).toMatchObject({ code: 'S001', message: expect.stringContaining(words) });
  });

  test('sandbox.C14 an unknown sandbox is reported before bad input', async () => {
    expect(await failure({ sandbox_id: NONE, cmd: 'cat', stdin: '!!' })).toMatchObject({ code: 'S002' });
  });

  test('sandbox.C8 sandbox.C17 a program that is not there', async () => {
    expect(await exec({ cmd: "'true'" })).toMatchObject({ exit_code: 127, success: false });
    expect(await exec({ cmd: '/no/such' })).toMatchObject({ exit_code: 127, stderr: 'exec: /no/such: not found\n' });
  });

  test('words that no system takes', async () => {
    const stderr = 'exec: echo: the words and the environment are more than a program can be given\n';
    expect(await exec({ argv: ['echo', 'x'.repeat(3_000_000)] })).toMatchObject({ exit_code: 126, stderr });
  });

  test('sandbox.C15 an exit code is an answer', async () => {
    expect(await exec({ argv: ['sh', '-c', 'exit 3'] })).toMatchObject({ exit_code: 3, success: false });
    expect(await exec({ argv: ['sh', '-c', 'kill -9 $$'] })).toMatchObject({ exit_code: 137, success: false });
  });

  test('sandbox.C18 sandbox.C32 a file that is not executable, a directory and a script without `#!` fail', async () => {
    await cell.call('sandbox::fs::write', { sandbox_id, path: '/tmp/x', content: 'echo hi\n' });
    for (const cmd of ['/tmp/x', '/usr']) {
      expect(await exec({ cmd })).toMatchObject({ exit_code: 126, stderr: `exec: ${cmd}: permission denied\n` });
    }
    await cell.call('sandbox::fs::chmod', { sandbox_id, path: '/tmp/x', mode: '0755' });
    expect(await exec({ cmd: '/tmp/x' })).toMatchObject({ exit_code: 126, stderr: expect.stringContaining('#!') });
  });

  test('sandbox.P8 sandbox.C20 a timeout ends everything the command started', async () => {
    const cmd = [
      'sh',
      '-c',
      "sleep 301 & python3 -c \"import os; os.setsid(); os.execvp('sleep', ['sleep', '301'])\" & sleep 301",
    ];
    expect(await failure({ argv: cmd, timeout_ms: 500 * SLOWNESS })).toMatchObject({ code: 'S200' });
    const { stdout } = await exec({ argv: ['sh', '-c', 'for p in /proc/[0-9]*; do cat $p/comm; done'] });
    expect(stdout.split('\n').filter((name) => name === 'sleep')).toEqual([]);
  });

  test('sandbox.C21 output is cut at a MiB, and the reply says so', async () => {
    const { stdout, exit_code, stdout_truncated } = await exec({
      argv: ['sh', '-c', 'head -c 3145728 /dev/zero | tr "\\0" a'],
    });
    expect([stdout.length, exit_code, stdout_truncated]).toEqual([1_048_576, 0, true]);
  });

  test('sandbox.C23 the streams are kept apart', async () => {
    const reply = await exec({ argv: ['sh', '-c', 'echo out; echo err >&2'] });
    expect(reply).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
  });

  test('sandbox.C26 sandbox.C27 as many at once as the cap, and files all the while', async () => {
    const running = Array.from({ length: 5 }, () => exec({ cmd: 'sleep 2' }));
    const settled = Promise.allSettled(running);
    const row = { exec_in_flight: 4, exec_slots_free: 0, exec_in_progress: true };
    await expect.poll(async () => (await list())[0]).toMatchObject(row);
    expect(await cell.call('sandbox::fs::stat', { sandbox_id, path: '/tmp' })).toMatchObject({ is_dir: true });

    const refused = (await settled).filter(({ status }) => status === 'rejected');
    const fix_note = expect.stringMatching(/foreground.*nohup.*sandbox::stop/s);
    expect(refused).toMatchObject([{ reason: { code: 'S003', extra: { fix_note } } }]);
  });

  const list = async () => (await cell.call<{ sandboxes: object[] }>('sandbox::list', {})).sandboxes;

  test('sandbox.C30 five MiB to read', async () => {
    const stdin = base64(Buffer.alloc(5_242_880, 'x'));
    expect(await exec({ cmd: 'wc -c', stdin })).toMatchObject({ stdout: '5242880\n' });
  });

  test('sandbox.P8 sandbox.C33 what was written before the timeout is in the error', async () => {
    const timeout_ms = 500 * SLOWNESS;
    const failed = await failure({ argv: ['sh', '-c', 'echo one; echo two >&2; sleep 60'], timeout_ms });
    expect(failed).toMatchObject({
      code: 'S200',
      stdout: 'one\n',
      stderr: 'two\n',
      message: `exec timed out after ${timeout_ms} ms`,
    });
  });

  test('a command in the background still runs when the reply is there', async () => {
    await exec({ argv: ['sh', '-c', 'sleep 300 & echo started'] });
    const { stdout } = await exec({ argv: ['sh', '-c', 'for p in /proc/[0-9]*; do cat $p/comm; done'] });
    expect(stdout).toContain('sleep\n');
  });

  test('sandbox.N1 nothing outside is reached, at once', async () => {
    const code = 'import socket; socket.create_connection(("192.0.2.1", 80), 5)';
    const reply = await exec({ argv: ['python3', '-c', code] });
    expect(reply).toMatchObject({ exit_code: 1, stderr: expect.stringMatching(/unreachable|No route/) });
  });

  test('sandbox.N6 a server inside is reached from inside', async () => {
    const code = [
      'import socket, threading',
      's = socket.create_server(("127.0.0.1", 0))',
      'threading.Thread(target=lambda: s.accept()[0].sendall(b"hello")).start()',
      'print(socket.create_connection(s.getsockname()).recv(9).decode())',
    ].join('\n');
    expect(await exec({ argv: ['python3', '-c', code] })).toMatchObject({ stdout: 'hello\n' });
  });
});

describe.skipIf(why !== undefined)('limits of the operator', () => {
  test('sandbox.C26 one at a time when the cap says so', async () => {
    await using cell = await serveSandboxes({ max_concurrent_exec_per_sandbox: 1 });
    const sandbox_id = await cell.create();
    const both = [1, 2].map(() => cell.call('sandbox::exec', { sandbox_id, cmd: 'sleep 1' }));
    const codes = (await Promise.allSettled(both)).map((one) =>
      one.status === 'rejected' ? (one.reason as { code: string }).code : 'ok',
    );
    expect(codes.toSorted()).toEqual(['S003', 'ok']);
  });

  test('sandbox.C29 no command runs longer than the ceiling', async () => {
    await using cell = await serveSandboxes({ max_exec_timeout_ms: 1000 });
    const sandbox_id = await cell.create();
    const failed = await cell.failure('sandbox::exec', { sandbox_id, cmd: 'sleep 30', timeout_ms: 60_000 });
    expect(failed).toMatchObject({
      code: 'S200',
      message: 'exec timed out after 1000 ms: max_exec_timeout_ms of the configuration (60000 were asked for)',
      fix: null,
      fix_note: expect.stringContaining('max_exec_timeout_ms'),
    });
  });
});
