/** Where the fence cannot be built, no command runs: the error names the failed step and the next one. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, test } from 'vitest';

import { choosePreset } from '#assembly';
import { mountLayer } from '#fence';
import { Layers } from '#host';
import { isFull, rounds, run, shellCases, tempDir } from '#testing';
import { probeFence } from '#workers/shell';
import { exec } from '../../../src/workers/shell/functions/exec.ts';

const LIBRARY = fileURLToPath(new URL('../../../dist/library/index.js', import.meta.url));
const PROGRAM = `
  import { createWorkcell } from ${JSON.stringify(LIBRARY)};
  const [workspace] = process.argv.slice(1);
  const cell = await createWorkcell({ workspace, workers: [{ name: 'shell', config: { fence: 'workspace' } }] });
  const answers = [];
  for (const [id, more] of [['shell::exec', {}], ['shell::exec_bg', {}], ['shell::exec', { fence: 'off' }]])
    answers.push(await cell.call(id, { command: '', script: 'touch ran', ...more }).then(() => 'ran', ({ code, message }) => ({ code, message })));
  console.log(JSON.stringify(answers));
  await cell.close();`;

interface Asked {
  env?: Record<string, string>;
  /** Starts the server. */
  through?: (words: string[]) => string[];
  workspace?: string;
  program?: string;
}

async function answersOf({ env = {}, through = (words) => words, workspace, program = PROGRAM }: Asked) {
  await using dir = await tempDir();
  const root = realpathSync(dir.root);
  const words = through([process.execPath, '--input-type=module', '-e', program, workspace ?? root]);
  const { stdout } = await promisify(execFile)(words[0]!, words.slice(1), {
    cwd: '/',
    env: { PATH: process.env.PATH!, HOME: dir.path('home'), XDG_CACHE_HOME: dir.path('cache'), ...env },
  });
  expect(existsSync(dir.path('ran'))).toBe(false);
  return JSON.parse(stdout) as unknown[];
}

const CHANGES = `
  import { createWorkcell } from ${JSON.stringify(LIBRARY)};
  const [workspace] = process.argv.slice(1);
  const cell = await createWorkcell({ workspace, workers: [{ name: 'coder' }, { name: 'shell' }, { name: 'change' }] });
  const write = { files: [{ path: 'ran', content: 'x' }] };
  const calls = [['change::begin', { name: 'x' }], ['coder::create-file', { ...write, change: 'x' }], ['shell::exec', { command: 'touch', args: ['ran'], record: true }], ['change::list', {}]];
  const answers = [];
  for (const [id, request] of calls) answers.push(await cell.call(id, request).catch(({ code, message }) => ({ code, message })));
  console.log(JSON.stringify(answers));
  await cell.close();`;

const refused = (what: string) => ({ code: 'S226', message: expect.stringContaining(what) });

describe.skipIf(process.platform !== 'linux')('fence.P2 a command is refused, never run without the fence', () => {
  test('fence.P2 where no user namespace can be made', async () => {
    const limit = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
    const through = (words: string[]) => ['unshare', '-Ur', 'sh', '-c', limit, 'sh', ...words];
    const [exec, job, off] = await answersOf({ through });
    expect(exec).toEqual(refused('cannot make a user namespace'));
    expect(exec).toEqual(refused('user.max_user_namespaces'));
    expect(job).toEqual(refused('cannot make a user namespace'));
    expect(off).toMatchObject({ code: 'S210' });
  });

  test('fence.P2 where namespaces can be made, and /proc cannot be mounted in them', async () => {
    // A new /proc would uncover its masked parts, so the kernel refuses it, as some containers do.
    const covered = 'mount -t tmpfs none /proc/sys && exec "$@"';
    const through = (words: string[]) => ['unshare', '-Urm', 'sh', '-c', covered, 'sh', ...words];
    const [exec, job] = await answersOf({ through });
    expect(exec).toEqual(refused('/proc: Operation not permitted'));
    expect(exec).toEqual(refused('run outside of a container that forbids them'));
    expect(job).toEqual(refused('/proc: Operation not permitted'));
  });

  test.runIf(isFull)('fence.P2 where a user namespace can be made, and no mount namespace', async () => {
    const limit = 'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"';
    const through = (words: string[]) => ['unshare', '-Ur', 'sh', '-c', limit, 'sh', ...words];
    const [exec] = await answersOf({ through });
    expect(exec).toEqual(refused('cannot make a mount and an IPC namespace'));
  });

  test('fence.P2 on a system without namespaces of Linux, such as macOS', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    const shown = Object.getOwnPropertyDescriptor(process, 'platform')!;
    const fenced = shellCases(dir.root, { fence: 'workspace' });
    const layers = { stateDir: dir.path('state'), limits: { maxOpen: 1, maxBytes: 1, idleMs: 1 }, mount: mountLayer };
    Object.defineProperty(process, 'platform', { ...shown, value: 'darwin' });
    try {
      const what = 'the fence needs namespaces of Linux; run on Linux, or start with fence: off';
      expect(await probeFence(dir.root)).toBe(what);
      const preset = await choosePreset(undefined, dir.root);
      expect(preset).toMatchObject({ name: 'iii', holds: expect.stringContaining(what) });
      await expect(run(exec, { script: 'touch ran' }, fenced)).rejects.toMatchObject(refused(what));
      const begun = new Layers(dir.path('ws'), layers).begin({ outside: 'private', network: 'host', note: '' });
      await expect(begun).rejects.toMatchObject({ reason: 'unavailable', message: 'changes need overlayfs of Linux' });
    } finally {
      Object.defineProperty(process, 'platform', shown);
    }
    expect(existsSync(dir.path('ran'))).toBe(false);
  });

  test('fence.P2 where no compiler builds the launcher', async () => {
    const [exec] = await answersOf({ env: { PATH: '/nonexistent' } });
    expect(exec).toEqual(refused('install gcc or musl-tools'));
  });

  test.each(['/', '/usr'].slice(0, rounds(1, 2, 2)))(
    'fence.P2 round the workspace %s, which the fence would have to close',
    async (workspace) => {
      const [exec] = await answersOf({ workspace });
      expect(exec).toEqual(refused('choose a project directory'));
    },
  );
});

test.skipIf(process.platform !== 'linux')(
  'change.A17 where the kernel refuses the mount nothing is written, in the workspace or in the store',
  async () => {
    const limits = 'cd /proc/sys/user && echo 0 > max_mnt_namespaces && echo 0 > max_user_namespaces && exec "$@"';
    const through = (words: string[]) => ['unshare', '-Ur', 'sh', '-c', limits, 'sh', ...words];
    await using state = await tempDir();
    const env = { XDG_STATE_HOME: state.root };
    const [begun, written, ran, listed] = await answersOf({ env, through, program: CHANGES });
    expect(begun).toEqual({ code: 'W214', message: expect.stringContaining('cannot make a user namespace') });
    expect(begun).toEqual({ code: 'W214', message: expect.stringContaining('`workcell doctor` has a line') });
    expect(written).toMatchObject({ code: 'C230' });
    expect(ran).toMatchObject({ code: expect.stringMatching(/^S2/) });
    expect(listed).toEqual({ changes: [] });
    const [store] = readdirSync(state.path('workcell/changes'));
    expect(readdirSync(state.path(`workcell/changes/${store}`)).filter((name) => !name.startsWith('.'))).toEqual([]);
  },
);
