/** `--preset`: the permissions of agents where no configuration file decides. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { isFull, rounds, tempDir } from '#testing';
import { runCli, startCli } from '../../../src/testing/cli.ts';

async function served(preset: string, more: Record<string, string> = {}) {
  const dir = await tempDir();
  const words = preset === '' ? [] : ['--preset', preset];
  const cli = await startCli(['start', '--port', '0', '--workspace', dir.root, ...words], {
    env: { WORKCELL_PRESET: '', ...more },
  });
  const call = async (id: string, payload: unknown) => {
    const url = `${cli.http}/functions/${id}`;
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const close = async () => {
    await cli[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  };
  return { dir, cli, call, [Symbol.asyncDispose]: close };
}

describe.skipIf(process.platform !== 'linux')('presets', () => {
  test.each(['', 'coding'].slice(0, rounds(1, 2, 2)))(
    'fence.F12 "%s" runs any command inside the fence, and says so',
    async (preset) => {
      await using cell = await served(preset);
      writeFileSync(cell.dir.path('.env'), 'SECRET');
      expect(cell.cli.stdout).toContain('  preset     coding: any command runs; it can write the workspace');
      const { body } = await cell.call('shell/exec', { command: '', script: 'git init -q . && cat .env; ls -a' });
      expect(body).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('.git\n') });
      expect(body.stdout).not.toContain('SECRET');
    },
  );

  test('fence.F12 look runs nothing and writes nothing', async () => {
    await using cell = await served('look');
    writeFileSync(cell.dir.path('a.txt'), 'read me');
    expect(await cell.call('coder/read-file', { path: 'a.txt' })).toMatchObject({ body: { content: 'read me' } });
    for (const [id, payload] of [
      ['shell/exec', { command: 'ls' }],
      ['coder/create-file', { files: [{ path: 'b.txt', content: '' }] }],
      ['sandbox/list', {}],
    ] as const) {
      expect((await cell.call(id, payload)).status).toBeGreaterThanOrEqual(403);
    }
  });

  // The presets that run less than the default are tested in each run.
  test.runIf(isFull)('fence.F12 open and iii run without a fence', async () => {
    await using open = await served('open');
    expect(await open.call('shell/exec', { command: 'sh', args: ['-c', 'echo open'] })).toMatchObject({
      body: { stdout: 'open\n' },
    });
    await using iii = await served('iii');
    expect(await iii.call('shell/exec', { command: 'sh', args: ['-c', 'echo no'] })).toMatchObject({ status: 400 });
  });

  test('fence.F12 where the fence cannot be built the default is iii, and the start says why', async () => {
    await using cache = await tempDir();
    await using cell = await served('', { PATH: '/nonexistent', XDG_CACHE_HOME: cache.root });
    expect(cell.cli.stdout).toMatch(/ {2}preset {5}iii: listed programs run .*install gcc or musl-tools/);
  });

  const reported = [
    ['coding where the fence can be built', /^preset coding: any command runs; it can write the workspace/, undefined],
    [
      'iii where it cannot, with the reason',
      /^preset iii: listed programs run .*install gcc or musl-tools/,
      '/nonexistent',
    ],
  ] as const;
  test.each(reported.slice(0, rounds(1, 2, 2)))(
    'fence.F12 mcp takes %s, and says so on standard error',
    async (_, said, path) => {
      await using dir = await tempDir();
      const env = { WORKCELL_PRESET: '', XDG_CACHE_HOME: dir.path('cache'), ...(path !== undefined && { PATH: path }) };
      // It ends by itself: there is no such change.
      const words = ['mcp', '--workspace', dir.root, '--change', 'none'];
      expect(await runCli(words, { env, cwd: dir.root })).toMatchObject({
        stdout: '',
        stderr: expect.stringMatching(said),
      });
    },
  );

  test.runIf(isFull)('fence.F12 a preset beside a configuration file, and an unknown one, are refused', async () => {
    await using dir = await tempDir();
    mkdirSync(dir.path('ws'));
    writeFileSync(dir.path('cell.yaml'), 'workers: []\n');
    const words = ['start', '--port', '0', '--workspace', dir.path('ws')];
    expect(await runCli([...words, '-c', join(dir.root, 'cell.yaml'), '--preset', 'open'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot both decide'),
    });
    expect(await runCli([...words, '--preset', 'codin'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('coding'),
    });
  });
});
