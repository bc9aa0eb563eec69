/**
 * Guests that use up what the kernel counts for a user: instances of inotify, timers, queues of messages. The server's user has
 * as much of it as before, or half where the sandbox has no ids of its own.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { buildSandbox } from './sandbox-build.ts';

const DAEMON = fileURLToPath(new URL('sandbox-daemon.mjs', import.meta.url));
const EXHAUST = fileURLToPath(new URL('sandbox-exhaust.c', import.meta.url));
const NOBODY = '65534';

/** Less than half of what a user has as systems come: others use some of it too. */
const NEEDED = ['48', '20000', '30'];

/** Each in a sandbox of its own. */
const GUESTS = 2;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const whyNot = process.geteuid?.() === 0 ? whyNoGuestRoot() : 'only root can become somebody else';

describe.skipIf(whyNot !== undefined)(`what a user has${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let built: TempDir;
  let root: TempDir;
  let home: TempDir;

  beforeAll(async () => {
    [built, root, home] = await Promise.all([tempDir(), guestRoot(), tempDir()]);
    await buildSandbox(built.root);
    execFileSync('gcc', ['-static', '-O1', '-w', '-o', root.path('bin/exhaust'), EXHAUST]);
    for (const dir of [root, home, built]) chmodSync(dir.root, 0o777);
  });

  afterAll(async () => {
    for (const dir of [built, root, home]) await dir?.[Symbol.asyncDispose]();
  });

  test.each([
    ['root', '0'],
    ['an ordinary user', NOBODY],
  ])('%s keeps it, whatever guests take', async (_, id) => {
    execFileSync('chown', ['-R', `${id}:${id}`, root.root, home.root]);
    const user = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
    const args = [DAEMON, built.root, 'namespaces', home.root, root.root, String(GUESTS), 'exhaust hold'];
    const daemon = spawn('setpriv', [...user, process.execPath, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, WAIT_MS: '3000' },
    });
    try {
      expect(await outcomesOf(daemon)).toEqual(Array.from({ length: GUESTS }, () => ({ kind: 'running' })));
      const had = execFileSync('setpriv', [...user, root.path('bin/exhaust'), ...NEEDED], { encoding: 'utf8' });
      expect(had).toBe(`inotify ${NEEDED[0]} timers ${NEEDED[1]} queues ${NEEDED[2]}\n`);
    } finally {
      daemon.kill('SIGKILL');
    }
  });
});

async function outcomesOf(daemon: ChildProcess): Promise<{ kind: string }[]> {
  const signal = AbortSignal.timeout(100_000);
  const ended = once(daemon, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  ended.catch(() => {});
  const [report] = (await Promise.race([once(daemon, 'message', { signal }), ended])) as [
    { outcomes: { kind: string }[] },
  ];
  return report.outcomes;
}
