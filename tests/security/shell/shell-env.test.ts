/** The part of the worker's environment that a command sees, and the variables that a call can set. */
import { existsSync } from 'node:fs';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { withhold } from '#host';
import { serveWorker, tempDir } from '#testing';
import { shell } from '#workers/shell';

interface Reply {
  exit_code: number | null;
  stdout: string;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** As field reports name them: loaders, interpreters' start files, and everything git reads. */
const HIJACKERS = [
  ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'DYLD_LIBRARY_PATH'],
  ...['NODE_OPTIONS', 'BASH_ENV', 'ENV', 'PYTHONSTARTUP', 'PYTHONPATH', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT'],
  ...['GIT_SSH_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_PAGER', 'GIT_CONFIG_COUNT', 'GIT_DIR', 'GIT_EXEC_PATH'],
];

describe('a command sees', () => {
  test('only what is listed', async () => {
    await using dir = await tempDir();
    vi.stubEnv('WORKCELL_TEST_SECRET', 'top secret');
    vi.stubEnv('LANG', 'C.UTF-8');
    await using worker = await serveWorker(shell, {
      allowed_env: ['LANG'],
      allowlist: [],
      fs: { host_root: dir.root },
    });
    const { stdout } = await worker.call<Reply>('shell::exec', { command: '/usr/bin/env', args: [] });
    expect(stdout).toBe('LANG=C.UTF-8\n');
  });

  test('shell.P4 everything when it is inherited, but no hijackers and no secret of the server', async () => {
    await using dir = await tempDir();
    for (const name of HIJACKERS) vi.stubEnv(name, 'x');
    const secret = [
      'WORKCELL_TOKEN',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
      'A_TOKEN_OF_ACCESS',
    ];
    for (const name of secret) vi.stubEnv(name, 'planted');
    withhold(['A_TOKEN_OF_ACCESS']);
    vi.stubEnv('WORKCELL_TEST_HARMLESS', 'yes');
    const config = { inherit_env: true, allowed_env: secret, allowlist: [], fs: { host_root: dir.root } };
    await using worker = await serveWorker(shell, config);
    const { stdout } = await worker.call<Reply>('shell::exec', { command: 'printenv' });
    const names = stdout.split('\n').map((line) => line.split('=')[0]!);
    expect(names).toContain('WORKCELL_TEST_HARMLESS');
    expect(names.filter((name) => HIJACKERS.includes(name) || secret.includes(name))).toEqual([]);
    expect(stdout).not.toContain('planted');
  });

  test('no start file that a shell would run first', async () => {
    await using dir = await tempDir({ 'start.sh': 'touch "$(dirname "$BASH_ENV$ENV")/ran"\n' });
    vi.stubEnv('BASH_ENV', dir.path('start.sh'));
    vi.stubEnv('ENV', dir.path('start.sh'));
    const allowed_env = ['PATH', 'BASH_ENV', 'ENV'];
    await using worker = await serveWorker(shell, {
      inherit_env: true,
      allowed_env,
      allowlist: [],
      fs: { host_root: dir.root },
    });
    for (const command of ['bash -c :', 'sh -i -c :']) await worker.call('shell::exec', { command });
    expect(existsSync(dir.path('ran'))).toBe(false);
  });

  test('nothing of what its own shell::exec neighbours were given', async () => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, {
      allowed_env: ['LANG'],
      allowlist: [],
      fs: { host_root: dir.root },
    });
    await worker.call('shell::exec', { command: '/usr/bin/env', env: { LANG: 'mine' } });
    expect(await worker.call('shell::exec', { command: '/usr/bin/env', env: {} })).not.toMatchObject({
      stdout: expect.stringContaining('mine'),
    });
  });
});

describe('a call may not set', () => {
  test.each([...HIJACKERS, 'WORKCELL_TOKEN'])('shell.P4 %s, even if it is listed', async (name) => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, { allowed_env: ['PATH', name], fs: { host_root: dir.root } });
    for (const functionId of ['shell::exec', 'shell::exec_bg']) {
      await expect(worker.call(functionId, { command: 'echo', env: { [name]: 'x' } })).rejects.toMatchObject({
        code: 'S210',
        message: `env: ${name} may not be set: it makes programs run other code or holds a secret`,
      });
    }
  });

  test.each([
    ['a variable that is not listed', { FOO: 'x' }],
    ['one by another case', { lang: 'x' }],
    ['one with an equals sign in its name', { 'LANG=x\nLD_PRELOAD': 'y' }],
    ['one without a name', { '': 'y' }],
    ['PATH', { PATH: '/tmp' }],
    ['a value with a NUL', { LANG: 'a\0LD_PRELOAD=b' }],
  ])('%s', async (_, env) => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, { fs: { host_root: dir.root } });
    await expect(worker.call('shell::exec', { command: 'printenv', env })).rejects.toMatchObject({ code: 'S210' });
  });

  test.each([
    ['a number', { LANG: 1 }, '`env.LANG` must be a string (got a number)'],
    ['a list', ['LANG=x'], '`env` must be a record (got an array)'],
    ['one text', 'LANG=x', '`env` must be a record (got a string)'],
  ])('variables as %s', async (_, env, message) => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, { fs: { host_root: dir.root } });
    await expect(worker.call('shell::exec', { command: 'printenv', env })).rejects.toMatchObject({
      code: 'invocation_failed',
      message,
    });
  });
});
