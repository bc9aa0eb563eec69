/**
 * Sandboxes of a daemon that is killed, and of a daemon of an ordinary user.
 *
 * The daemon runs in a process of its own. When it is killed its sandboxes die with it, and the next daemon
 * removes the rest. As an ordinary user it makes the same sandboxes, bounded by the limits of each process.
 */
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { guestRoot, machineCache, NOBODY_UID, rounds, tempDir, TEST_BACKEND, type TempDir } from '#testing';
import { whyNoBackend } from '../../sandbox-backend.ts';

const DAEMON = fileURLToPath(new URL('sandbox-daemon.mjs', import.meta.url));
const KILLS = rounds(1, 3, 50);
const PATIENCE_MS = 60_000;

const whyNot = await whyNoBackend();
const sharesKernel = TEST_BACKEND === 'namespaces';
const isRoot = process.geteuid?.() === 0;

describe.skipIf(whyNot !== undefined)(`a daemon of sandboxes${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;

  beforeAll(async () => {
    [root, cache] = await Promise.all([guestRoot(), machineCache()]);
  }, PATIENCE_MS);

  afterAll(async () => {
    for (const dir of [root, cache]) await dir[Symbol.asyncDispose]();
  });

  test(`sandbox.E12 ${KILLS} daemons are killed: their sandboxes die at once, and the next one removes their traces`, async () => {
    const daemons: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const mark = `31${process.pid % 1000}${kill}`;
      const script = `(setsid sleep ${mark} &); sleep ${mark}`;
      const daemon = fork(DAEMON, [TEST_BACKEND, cache.root, root.root, '3', script], {
        execArgv: [],
        env: { ...process.env, WAIT_MS: '300' },
      });
      daemons.push(daemon.pid!);
      const { pids, outcomes } = await messageOf(daemon);
      expect(outcomes).toEqual([{ kind: 'running' }, { kind: 'running' }, { kind: 'running' }]);
      // Processes under a guest kernel are not visible from here, but that kernel is.
      if (sharesKernel) await until(() => processesWith(`sleep\0${mark}`).length === 6);
      expect(processesWith(`daemon-${daemon.pid}-`).length).toBeGreaterThanOrEqual(3);

      // The first process of one cannot notice by itself.
      const [first] = readFileSync(`/proc/${pids[0]}/task/${pids[0]}/children`, 'latin1').split(' ');
      process.kill(Number(first), 'SIGSTOP');
      daemon.kill('SIGKILL');
      await once(daemon, 'exit');
      const left = () => [...processesWith(`sleep\0${mark}`), ...processesWith(`daemon-${daemon.pid}-`)];
      await until(() => left().length === 0 && pids.every((pid) => !existsSync(`/proc/${pid}`)));
    }
    const next = fork(DAEMON, [TEST_BACKEND, cache.root, root.root], { execArgv: [] });
    await once(next, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
    expect(groupsOf(daemons)).toEqual([]);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(cache.root);
  }, 600_000);

  test.skipIf(!isRoot)(
    'an ordinary user has sandboxes too',
    async () => {
      await using own = await guestRoot();
      await using home = await tempDir();
      for (const dir of [own, home]) chmodSync(dir.root, 0o755);
      execFileSync('chown', ['-R', `${NOBODY_UID}:${NOBODY_UID}`, own.root, home.root]);
      const script =
        'id -u; echo mine > /home/f; cat /home/f; hostname | cut -c1-7; grep CapEff /proc/self/status; ulimit -u; dd if=/dev/zero of=/dev/null bs=400M count=1 2>/dev/null || echo no memory; dd if=/dev/zero of=/home/g bs=1M count=100 2>/dev/null || echo no disk';
      const daemon = spawn(
        'setpriv',
        [
          `--reuid=${NOBODY_UID}`,
          `--regid=${NOBODY_UID}`,
          '--clear-groups',
          process.execPath,
          DAEMON,
          TEST_BACKEND,
          home.root,
          own.root,
          '1',
          script,
        ],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          env: { ...process.env, WAIT_MS: '60000' },
        },
      );
      const { probe, outcomes } = await messageOf(daemon);
      daemon.kill('SIGKILL');
      expect(probe).toEqual({ ok: true, ...AS_USER[TEST_BACKEND] });
      expect(outcomes).toMatchObject([{ kind: 'exited', exitCode: 0, stderr: '' }]);
      expect(outcomes[0]!.stdout.split('\n').map((line) => line.trim())).toEqual([
        '0',
        'mine',
        'sandbox',
        'CapEff:\t00000000000004fb',
        sharesKernel ? '1024' : '512',
        'no memory',
        'no disk',
        '',
      ]);
    },
    120_000,
  );
});

/** The probe's verdict for an ordinary user; virtual machines have a test of their own. */
const AS_USER: Record<string, object> = {
  namespaces: { detail: 'the id of this user, limits by watchdog' },
  gvisor: { detail: expect.stringMatching(/^runsc \S+, rootless, limits by watchdog$/) },
};

interface Report {
  probe: unknown;
  pids: number[];
  outcomes: { kind: string; stdout: string }[];
}

async function messageOf(daemon: ChildProcess): Promise<Report> {
  const over = AbortSignal.timeout(PATIENCE_MS);
  const ended = once(daemon, 'exit', { signal: over }).then(([code]) =>
    Promise.reject(new Error(`it ended with ${code}`)),
  );
  const [report] = (await Promise.race([once(daemon, 'message', { signal: over }), ended])) as [Report];
  ended.catch(() => {});
  return report;
}

function processesWith(words: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name).includes(words));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Control groups whose creator is dead. */
/** Other suites kill daemons of their own at the same time. */
function groupsOf(daemons: readonly number[]): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'workcell-sandbox.*'], {
    encoding: 'utf8',
  });
  return found.split('\n').filter((path) => daemons.includes(Number(/sandbox\.(\d+)-/.exec(path)?.[1])));
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it did not come to that within 30 s');
    await passed(10);
  }
}
