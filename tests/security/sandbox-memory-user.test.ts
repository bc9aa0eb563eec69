/**
 * The same hogs of memory in sandboxes of an ordinary user to whom no control group belongs: a watchdog ends the sandbox.
 *
 * The daemon runs in a process of its own, as nobody. Each hog gets a sandbox; what it may do there without being ended is to
 * be refused.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, tempDir, TEST_BACKEND, type TempDir } from '#testing';
import { whyNoBackend } from '../sandbox-backend.ts';
import { buildSandbox } from './sandbox-build.ts';

const DAEMON = fileURLToPath(new URL('sandbox-daemon.mjs', import.meta.url));
const HOG = fileURLToPath(new URL('sandbox-hog.c', import.meta.url));
const NOBODY = '65534';

/** Of the daemon's sandboxes. */
const MEMORY_MB = 128;
const WANTED_MB = 1280;

/** Where a kernel that is a program stands between, it takes a part of its own. */
const KEPT_MB = TEST_BACKEND === 'gvisor' ? MEMORY_MB + 256 : MEMORY_MB + 64;

const WAYS = {
  namespaces: ['shared', 'memfd', 'hidden', 'shm', 'sockets', 'pipes', 'many', 'tables'],
  gvisor: ['sockets', 'pipes', 'many'],
  qemu: [],
};

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });
const whyNot = process.geteuid?.() === 0 ? await whyNoBackend() : 'only root can become somebody else';

describe.skipIf(whyNot !== undefined)(`memory without groups${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let built: TempDir;
  let root: TempDir;
  let home: TempDir;

  beforeAll(async () => {
    [built, root, home] = await Promise.all([tempDir(), guestRoot(), tempDir()]);
    await buildSandbox(built.root);
    execFileSync('gcc', ['-static', '-O1', '-w', '-o', root.path('bin/hog'), HOG]);
    for (const dir of [root, home, built]) chmodSync(dir.root, 0o755);
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, root.root, home.root]);
  });

  afterAll(async () => {
    for (const dir of [built, root, home]) await dir?.[Symbol.asyncDispose]();
  });

  test(`${WANTED_MB} MiB are not had in a sandbox of ${MEMORY_MB}, in any way`, async () => {
    const ways = WAYS[TEST_BACKEND];
    const outcomes = await outcomesOf(ways.map((way) => `exec hog ${way} ${WANTED_MB}`));
    const kept = outcomes.map(({ kind, exitCode, stdout }, i) => {
      const heldMb = Math.max(0, ...[...(stdout ?? '').matchAll(/^held (\d+)$/gm)].map(([, amount]) => Number(amount)));
      const isKept = kind === 'running' || (kind === 'exited' && exitCode === 0);
      return [ways[i], isKept && heldMb > KEPT_MB ? `${heldMb} MiB` : 'not had'];
    });
    expect(kept).toEqual(ways.map((way) => [way, 'not had']));
    expect(outcomes.filter(({ kind }) => kind === 'lost').map(({ stderrTail }) => stderrTail)).toContainEqual(
      expect.stringMatching(/its programs held \d+ MiB, more than its memory_mb/),
    );
  });

  test.skipIf(TEST_BACKEND !== 'namespaces')('pages that forks share are counted once', async () => {
    const text = 'x=$(head -c 30000000 /dev/zero | tr "\\0" x)';
    const [outcome] = await outcomesOf([`${text}; for i in 1 2 3 4 5 6 7 8; do (sleep 2; echo lives) & done; wait`]);
    expect(outcome).toMatchObject({ kind: 'exited', exitCode: 0, stdout: 'lives\n'.repeat(8) });
  });

  async function outcomesOf(scripts: readonly string[]): Promise<Outcome[]> {
    const command = [DAEMON, built.root, TEST_BACKEND, home.root, root.root, String(scripts.length), ...scripts];
    const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const daemon = spawn('setpriv', [...user, process.execPath, ...command], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, WAIT_MS: '60000' },
    });
    const signal = AbortSignal.timeout(200_000);
    const ended = once(daemon, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
    ended.catch(() => {});
    const [report] = (await Promise.race([once(daemon, 'message', { signal }), ended])) as [{ outcomes: Outcome[] }];
    daemon.kill('SIGKILL');
    return report.outcomes;
  }
});

interface Outcome {
  kind: string;
  exitCode?: number;
  stdout?: string;
  stderrTail?: string;
}
