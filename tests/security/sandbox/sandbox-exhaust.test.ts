/**
 * Guests that exhaust per-user kernel resources: inotify instances, timers, message queues. The server's user keeps all
 * of its own, or half where the sandbox has no ids of its own.
 */
import { execFileSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { NOBODY_UID, whyNoGuestRoot } from '#testing';
import { asUser, outcomesOf, UserSandboxes } from './sandbox-user.ts';

/** Less than half of the default limit of a user: other programs use some of it too. */
const NEEDED = ['48', '20000', '30'];

/** Each in a sandbox of its own. */
const GUESTS = 2;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const whyNot = process.geteuid?.() === 0 ? whyNoGuestRoot() : 'only root can become another user';

describe.skipIf(whyNot !== undefined)(`resources of a user${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let sandboxes: UserSandboxes;
  beforeAll(async () => void (sandboxes = await UserSandboxes.prepare('sandbox-exhaust.c')));
  afterAll(() => sandboxes?.[Symbol.asyncDispose]());

  test.each([
    ['root', 0],
    ['an ordinary user', NOBODY_UID],
  ])('%s keeps them, whatever guests take', async (_, uid) => {
    const scripts = Array.from({ length: GUESTS }, () => 'sandbox-exhaust hold');
    const daemon = sandboxes.start({ backend: 'namespaces', uid, scripts, waitMs: 3000 });
    try {
      expect(await outcomesOf(daemon)).toEqual(Array.from({ length: GUESTS }, () => ({ kind: 'running' })));
      const had = execFileSync('setpriv', [...asUser(uid), sandboxes.program, ...NEEDED], { encoding: 'utf8' });
      expect(had).toBe(`inotify ${NEEDED[0]} timers ${NEEDED[1]} queues ${NEEDED[2]}\n`);
    } finally {
      daemon.kill('SIGKILL');
    }
  });
});
