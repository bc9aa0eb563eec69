/**
 * The same memory hogs in sandboxes of an ordinary user without a control group: a watchdog ends the sandbox.
 *
 * The daemon runs in a process of its own, as an ordinary user. Each hog gets a sandbox; a hog that is not killed must be
 * refused the memory.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { NOBODY_UID, TEST_BACKEND } from '#testing';
import { whyNoBackend } from '../../sandbox-backend.ts';
import { outcomesOf, UserSandboxes } from './sandbox-user.ts';

/** Of the daemon's sandboxes. */
const MEMORY_MB = 128;
const WANTED_MB = 1280;

/** gVisor's kernel needs a share of its own. */
const KEPT_MB = TEST_BACKEND === 'gvisor' ? MEMORY_MB + 256 : MEMORY_MB + 64;

const WAYS: Record<string, string[]> = {
  namespaces: ['shared', 'memfd', 'hidden', 'shm', 'sockets', 'pipes', 'many', 'tables'],
  gvisor: ['sockets', 'pipes', 'many'],
  qemu: [],
};

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });
const whyNot = process.geteuid?.() === 0 ? await whyNoBackend() : 'only root can become another user';

describe.skipIf(whyNot !== undefined)(`memory without groups${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let sandboxes: UserSandboxes;
  beforeAll(async () => void (sandboxes = await UserSandboxes.prepare('sandbox-hog.c')));
  afterAll(() => sandboxes?.[Symbol.asyncDispose]());

  const run = async (...scripts: string[]) => {
    const daemon = sandboxes.start({ backend: TEST_BACKEND, uid: NOBODY_UID, scripts, waitMs: 60_000 });
    try {
      return await outcomesOf(daemon);
    } finally {
      daemon.kill('SIGKILL');
    }
  };

  test(`${WANTED_MB} MiB are not had in a sandbox of ${MEMORY_MB}, in any way`, async () => {
    const ways = WAYS[TEST_BACKEND] ?? [];
    const outcomes = await run(...ways.map((way) => `exec sandbox-hog ${way} ${WANTED_MB}`));
    const kept = outcomes.map(({ kind, exitCode, stdout }, i) => {
      const takenMb = Math.max(
        0,
        ...[...(stdout ?? '').matchAll(/^took (\d+)$/gm)].map(([, amount]) => Number(amount)),
      );
      const isKept = kind === 'running' || (kind === 'exited' && exitCode === 0);
      return [ways[i], isKept && takenMb > KEPT_MB ? `${takenMb} MiB` : 'not had'];
    });
    expect(kept).toEqual(ways.map((way) => [way, 'not had']));
    expect(outcomes.filter(({ kind }) => kind === 'lost').map(({ stderrTail }) => stderrTail)).toContainEqual(
      expect.stringMatching(/its programs used \d+ MiB, more than its memory_mb/),
    );
  });

  test.skipIf(TEST_BACKEND !== 'namespaces')('pages that forks share are counted once', async () => {
    const text = 'x=$(head -c 30000000 /dev/zero | tr "\\0" x)';
    const [outcome] = await run(`${text}; for i in 1 2 3 4 5 6 7 8; do (sleep 2; echo lives) & done; wait`);
    expect(outcome).toMatchObject({ kind: 'exited', exitCode: 0, stdout: 'lives\n'.repeat(8) });
  });
});
