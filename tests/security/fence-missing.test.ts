/** Where the fence cannot be built, no command runs: the call says what failed and what to do. */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';

const LIBRARY = fileURLToPath(new URL('../../dist/library/index.js', import.meta.url));
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
}

async function answersOf({ env = {}, through = (words) => words, workspace }: Asked) {
  await using dir = await tempDir();
  const root = realpathSync(dir.root);
  const words = through([process.execPath, '--input-type=module', '-e', PROGRAM, workspace ?? root]);
  const { stdout } = await promisify(execFile)(words[0]!, words.slice(1), {
    cwd: '/',
    env: { PATH: process.env.PATH!, HOME: dir.path('home'), XDG_CACHE_HOME: dir.path('cache'), ...env },
  });
  expect(existsSync(dir.path('ran'))).toBe(false);
  return JSON.parse(stdout) as unknown[];
}

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

  test('fence.P2 where no compiler builds the launcher', async () => {
    const [exec] = await answersOf({ env: { PATH: '/nonexistent' } });
    expect(exec).toEqual(refused('install gcc or musl-tools'));
  });

  test.each(['/', '/usr'])(
    'fence.P2 round the workspace %s, which the fence would have to close',
    async (workspace) => {
      const [exec] = await answersOf({ workspace });
      expect(exec).toEqual(refused('choose a project directory'));
    },
  );
});
