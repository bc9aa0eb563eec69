/**
 * The sandbox of an ordinary user without control groups is killed within a second after its programs hold more than
 * memory_mb. Observed from the host, by the name that the program in the sandbox sets with each 64 MiB that it has.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { NOBODY_UID, whyNoGuestRoot } from '#testing';
import { outcomesOf, UserSandboxes } from './sandbox-user.ts';

/** Of the daemon's sandboxes. */
const MEMORY_MB = 128;
const WANTED_MB = 1280;

const BUDGET_MS = 1000;
const POLL_EVERY_MS = 2;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const whyNot = process.geteuid?.() === 0 ? whyNoGuestRoot() : 'only root can become another user';

describe.skipIf(whyNot !== undefined)(`memory without groups${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let sandboxes: UserSandboxes;
  beforeAll(async () => void (sandboxes = await UserSandboxes.prepare('sandbox-hog.c')));
  afterAll(() => sandboxes?.[Symbol.asyncDispose]());

  // A machine that is busy with other tests may be late once.
  test.each(['many', 'tables'])('taken by %s', { retry: 2 }, async (way) => {
    const mark = String(randomInt(10 ** 11, 10 ** 12));
    const script = `exec sandbox-hog ${way} ${WANTED_MB} ${mark}`;
    const daemon = sandboxes.start({ backend: 'namespaces', uid: NOBODY_UID, scripts: [script], waitMs: 60_000 });
    try {
      const outcomes = outcomesOf(daemon);
      const ms = await msOverLimit(mark, outcomes);
      const [outcome] = await outcomes;
      console.log(`${way}: ended ${Math.round(ms)} ms after ${MEMORY_MB} MiB were taken`);
      expect(outcome).toMatchObject({ kind: 'lost', stderrTail: expect.stringContaining('more than its memory_mb') });
      expect(ms).toBeLessThan(BUDGET_MS);
    } finally {
      daemon.kill('SIGKILL');
    }
  });
});

/**
 * Time from when the marked program reaches its limit until no process has its mark; NaN if it ended before the limit
 * was seen.
 */
async function msOverLimit(mark: string, ended: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = () => void (isOver = true);
  ended.then(over, over);
  let crossedAt = NaN;
  while (!isOver && Number.isNaN(crossedAt)) {
    if (pidsOf(mark).some((pid) => takenMb(pid) >= MEMORY_MB)) crossedAt = performance.now();
    else await sleep(POLL_EVERY_MS);
  }
  while (pidsOf(mark).length > 0) await sleep(POLL_EVERY_MS);
  return performance.now() - crossedAt;
}

function pidsOf(mark: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isHog(textOf(name, 'cmdline'), mark));
}

/** The shell that becomes it, and the daemon, have the mark in one of their words. */
function isHog(cmdline: string, mark: string): boolean {
  return cmdline.startsWith('sandbox-hog\0') && cmdline.split('\0').includes(mark);
}

function takenMb(pid: string): number {
  return Number(/^took (\d+)$/m.exec(textOf(pid, 'comm'))?.[1] ?? 0);
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
