/** Commands inside the fence: their own permissions. tests/security/fence tries the forbidden ones. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { run, serveWorker, shellCases, tempDir, type TempDir } from '#testing';
import { shell } from '../index.ts';
import { exec } from './exec.ts';

const FENCED = { fence: 'workspace' };

/** One call in a workspace of its own. */
async function call(payload: unknown, more: Record<string, unknown> = FENCED, prepare?: (dir: TempDir) => void) {
  await using dir = await tempDir();
  prepare?.(dir);
  return (await run(exec, payload, shellCases(dir.root, more))) as Record<string, unknown>;
}

describe.skipIf(process.platform !== 'linux')('inside the fence', () => {
  test('fence.F01 any program runs, and a script for a shell', async () => {
    expect(await call({ command: 'node', args: ['-e', 'console.log(6 * 7)'] })).toMatchObject({ stdout: '42\n' });
    expect(await call({ script: 'for i in 1 2; do echo $i; done | tail -n1; exit 3' })).toMatchObject({
      stdout: '2\n',
      exit_code: 3,
    });
  });

  test('fence.F02 what a command writes in the workspace is there', async () => {
    await using dir = await tempDir();
    await run(exec, { script: 'mkdir a && echo written > a/b' }, shellCases(dir.root, FENCED));
    expect(readFileSync(dir.path('a/b'), 'utf8')).toBe('written\n');
  });

  test('fence.F03 variables that only matter inside are set', async () => {
    const env = { NODE_ENV: 'test', CI: '1', FOO: 'x y', PYTHONPATH: '/p', LD_PRELOAD: '/none.so' };
    const { stdout } = await call({ script: 'echo "$NODE_ENV $CI $FOO $PYTHONPATH $LD_PRELOAD"', env });
    expect(stdout).toBe('test 1 x y /p /none.so\n');
  });

  test.each(['node_modules/.bin', '.venv/bin'])(
    'fence.F04 programs of the workspace run by their path in %s',
    async (folder) => {
      const prepare = (dir: TempDir) => {
        mkdirSync(dir.path(folder), { recursive: true });
        writeFileSync(dir.path(`${folder}/tool`), '#!/bin/sh\necho tool "$@"\n', { mode: 0o755 });
      };
      expect(await call({ command: `${folder}/tool`, args: ['a b'] }, FENCED, prepare)).toMatchObject({
        stdout: 'tool a b\n',
      });
    },
  );

  test('fence.F05 /tmp is private and shared by the commands of a server', async () => {
    await using dir = await tempDir();
    await using server = await serveWorker(shell, shellCases(dir.root, FENCED));
    const name = `/tmp/fence-${process.pid}`;
    await server.call('shell::exec', { script: `echo kept > ${name}` });
    expect(await server.call('shell::exec', { script: `cat ${name}` })).toMatchObject({ stdout: 'kept\n' });
    expect(() => readFileSync(name)).toThrow('ENOENT');
  });

  test('fence.F06 a signal, a timeout and the exit code are those of the command', async () => {
    expect(await call({ script: 'kill -SEGV $$' })).toMatchObject({ exit_code: null, timed_out: false });
    expect(await call({ script: 'sleep 60 & sleep 60', timeout_ms: 300 })).toMatchObject({ timed_out: true });
    expect(await call({ command: 'no-such-program' })).toMatchObject({
      exit_code: 127,
      stderr: expect.stringContaining('no-such-program was not started'),
    });
  });

  test('fence.F07 a protected file cannot be opened, and its neighbours can', async () => {
    const prepare = (dir: TempDir) => {
      writeFileSync(dir.path('.env'), 'SECRET');
      writeFileSync(dir.path('.env.example'), 'EXAMPLE');
    };
    const reply = await call({ script: 'cat .env; cat .env.example' }, FENCED, prepare);
    expect(reply).toMatchObject({
      stdout: 'EXAMPLE',
      stderr: expect.stringMatching(/No such device|Permission denied/),
    });
  });

  test('fence.F08 a call may ask for the fence, and not for less than the operator', async () => {
    expect(await call({ script: 'echo in', fence: 'workspace' }, {})).toMatchObject({ stdout: 'in\n' });
    await expect(call({ script: 'echo out' }, {})).rejects.toMatchObject({ code: 'S210' });
    await expect(call({ command: 'ls', fence: 'off' }, FENCED)).rejects.toMatchObject({ code: 'S210' });
    await expect(call({ command: 'ls', script: 'ls' }, FENCED)).rejects.toMatchObject({ code: 'S210' });
  });

  test('fence.F13 a job inside has a terminal and takes input and signals', async () => {
    await using dir = await tempDir();
    await using server = await serveWorker(shell, shellCases(dir.root, FENCED));
    const wait = { wait_ms: 60_000 };
    const terminal = { cols: 90, rows: 20 };
    const shown = await server.call('shell::exec_bg', {
      script: 'stty size; tty -s && echo yes; read x; echo got $x',
      terminal,
    });
    await server.call('shell::output', { job_id: shown.job_id, ...wait, until: { pattern: 'yes' } });
    await server.call('shell::input', { job_id: shown.job_id, text: 'typed\n' });
    await server.call('shell::output', { job_id: shown.job_id, ...wait, until: { exit: true } });
    expect(await server.call('shell::status', { job_id: shown.job_id })).toMatchObject({
      job: { exit_code: 0, stdout: expect.stringMatching(/20 90\r\nyes\r\ntyped\r\ngot typed/) },
    });

    const script = 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done';
    const { job_id } = await server.call('shell::exec_bg', { script });
    await server.call('shell::output', { job_id, ...wait, until: { pattern: 'ready' } });
    await server.call('shell::kill', { job_id, signal: 'TERM' });
    await server.call('shell::output', { job_id, ...wait, until: { exit: true } });
    expect(await server.call('shell::status', { job_id })).toMatchObject({
      job: { exit_code: 5, stdout: 'ready\ncaught\n' },
    });
  });
});
