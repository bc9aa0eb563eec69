import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, whyNoSandbox, withEnoughTime, type SandboxCases } from '#testing';

const why = await whyNoSandbox(['python', 'node']);

describe.skipIf(why !== undefined)(`sandbox::run${why === undefined ? '' : ` (${why})`}`, () => {
  let cell: SandboxCases;
  beforeAll(async () => (cell = await serveSandboxes()), IMAGE_PATIENCE_MS);
  afterAll(() => cell?.[Symbol.asyncDispose]());

  const run = (request: object) =>
    cell.call<Record<string, unknown>>('sandbox::run', { image: 'python', lang: 'python', code: '', ...request });
  const failure = (request: object) =>
    cell.failure('sandbox::run', { image: 'python', lang: 'python', code: '', ...request });
  const stop = (sandbox_id: unknown) => cell.call('sandbox::stop', { sandbox_id, wait: true });
  const living = async () => (await cell.call<{ sandboxes: { sandbox_id: string }[] }>('sandbox::list', {})).sandboxes;

  test.each([
    ['python', 'python', 'print(6 * 7)', '42\n'],
    ['py', 'python', 'import sys; print(sys.argv[0])', '/tmp/run.py\n'],
    ['node', 'node', 'console.log(process.argv[1])', '/tmp/run.js\n'],
    ['js', 'node', 'console.log(6 * 7)', '42\n'],
    ['sh', 'python', 'echo $0 $((6 * 7))', '/tmp/run.sh 42\n'],
    ['sh', 'python', 'echo ${BASH_VERSION:-none}', 'none\n'],
    ['bash', 'python', 'a=(1 2); echo $0 ${a[1]}', '/tmp/run.sh 2\n'],
    ['shell', 'python', '[[ -n $BASH_VERSION ]] && cat <(echo bash semantics)', 'bash semantics\n'],
    // The shell of an image without bash.
    ['shell', 'python', 'echo ${BASH_VERSION:-none}', 'none\n', { env: { PATH: '/nowhere' } }],
  ])('sandbox.D2 %s', async (lang, image, code, stdout, more: object = {}) => {
    const reply = await run({ lang, image, code, ...more });
    expect(reply).toMatchObject({ stdout, exit_code: 0, success: true });
    expect(Object.keys(reply)).not.toContain('sandbox_id');
    expect(await living()).toEqual([]);
  });

  test('sandbox.D3 any program takes the file', async () => {
    expect(await run({ lang: '/bin/cat', code: 'abc' })).toMatchObject({ stdout: 'abc' });
  });

  test('sandbox.D5 a sandbox that is kept has the code and lives on', async () => {
    const { sandbox_id } = await run({ code: 'print(1)', keep_sandbox: true });
    expect(await cell.call('sandbox::fs::read', { sandbox_id, path: '/tmp/run.py' })).toMatchObject({
      body: 'print(1)',
    });
    expect(await living()).toMatchObject([{ sandbox_id }]);
    await cell.call('sandbox::stop', { sandbox_id, wait: true });
  });

  test('sandbox.D6 files come with it, directories made', async () => {
    const files = [{ path: '/tmp/lib/m.py', content: 'X=7' }];
    const code = 'import sys; sys.path.append("/tmp/lib"); import m; print(m.X)';
    expect(await run({ code, files })).toMatchObject({ stdout: '7\n' });
  });

  test('sandbox.D8 an unknown image is refused', async () => {
    expect(await failure({ image: 'nope' })).toMatchObject({
      code: 'S100',
      context: expect.stringContaining('create'),
      sandbox_id: '',
      inner_code: 'S100',
      fix: null,
      fix_note: expect.stringContaining('image'),
    });
  });

  test.each([false, true])('sandbox.D9 a timeout, keep_sandbox %s', async (keep_sandbox) => {
    const code = 'print(1, flush=True); import time; time.sleep(60)';
    const late = async (timeout_ms: number) => {
      const failed = await failure({ code, timeout_ms, keep_sandbox });
      if (failed.stdout === '' && keep_sandbox) await stop(failed.sandbox_id);
      return failed;
    };
    const failed = await withEnoughTime([2_000, 8_000, 20_000], late, ({ stdout }) => stdout !== '');
    const { context, sandbox_id } = failed as { context: string; sandbox_id: string };
    expect(failed).toMatchObject({ code: 'S200', stdout: '1\n' });
    expect(context).toContain('exec');
    expect((await living()).map((row) => row.sandbox_id)).toEqual(keep_sandbox ? [sandbox_id] : []);
    if (keep_sandbox) await stop(sandbox_id);
  });

  test('sandbox.D11 sandbox.D12 a missing or unknown language is refused before anything boots', async () => {
    const failed = await cell.failure('sandbox::run', { image: 'python', code: '' });
    expect(failed).toMatchObject({ code: 'S001', message: expect.stringContaining('lang') });
    for (const lang of ['', 'a b']) {
      expect(await failure({ lang, image: 'nope' })).toMatchObject({
        code: 'S001',
        message: expect.stringContaining('lang'),
      });
    }
  });

  test('takes what a sandbox takes: environment, input, size and directory', async () => {
    const code = 'import os, sys; print(os.environ["A"], sys.stdin.read(), os.getcwd())';
    const stdin = Buffer.from('in').toString('base64');
    const more = { env: ['A=1'], stdin, workdir: '/usr', memory_mb: 256, disk_mb: 64, cpus: 1, name: 'x' };
    expect(await run({ code, ...more })).toMatchObject({ stdout: '1 in /usr\n' });
  });

  test('a step that fails says which', async () => {
    const files = [{ path: '/proc/none/x', content: '' }];
    const failed = await failure({ files });
    expect(failed.message).toMatch(
      /^during sandbox::run step `fs::write \(sibling file\)` \(sandbox_id=[0-9a-f-]{36}\): /,
    );
    expect(await living()).toEqual([]);
  });
});
