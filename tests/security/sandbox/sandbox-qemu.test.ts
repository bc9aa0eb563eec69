/**
 * Virtual machines against hostile guests, and against a kill of the processes that run them.
 *
 * A guest that took over its QEMU would have what the jail gives to QEMU: this checks such a process from outside.
 * Machines share their template, so it is checked too.
 */
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, isFull, machineCache, NOBODY_UID, qemuCache, rounds, whyNoQemu, type TempDir } from '#testing';
import type { Shape } from '../../../src/workers/sandbox/backends/backend.ts';
import { startMachine, type TestMachine } from '../../../src/workers/sandbox/backends/machine.contract.ts';
import { QemuBackend } from '../../../src/workers/sandbox/backends/qemu/qemu-backend.ts';

const DAEMON = fileURLToPath(new URL('sandbox-qemu-daemon.mjs', import.meta.url));
const IN_SEQUENCE = rounds(3, 20, 200);
const AT_ONCE = rounds(2, 4, 16);
const KILLS = rounds(1, 2, 20);
const JAIL_KILLS = rounds(3, 20, 200);
const SLOWNESS = 6;

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });
const whyNot = await whyNoQemu();

describe.skipIf(whyNot !== undefined)(`virtual machines${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let backend: QemuBackend;
  let shape: Shape;
  const start = () => startMachine(backend, shape, SLOWNESS);

  beforeAll(async () => {
    [root, cache] = [await guestRoot(), await machineCache()];
    backend = new QemuBackend({ cacheDir: cache.root, accelerator: 'tcg' });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 64, diskMb: 16 };
  });

  afterAll(async () => {
    for (const dir of [root, cache]) await dir[Symbol.asyncDispose]();
  });

  test('QEMU has no rights, no network, no other process and no file but those of its machine', async () => {
    await using machine = await start();
    const qemu = insideOf(machine);
    expect(statusOf(qemu, ['Uid', 'CapEff', 'CapPrm', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp', 'NSpid'])).toEqual({
      Uid: expect.stringMatching(new RegExp(`^${process.geteuid?.()}\\b`)),
      CapEff: '0000000000000000',
      CapPrm: '0000000000000000',
      CapBnd: '0000000000000000',
      CapAmb: '0000000000000000',
      NoNewPrivs: '1',
      Seccomp: '2',
      NSpid: expect.stringMatching(/\t1$/),
    });
    for (const space of ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup']) {
      expect(readlinkSync(`/proc/${qemu}/ns/${space}`)).not.toBe(readlinkSync(`/proc/self/ns/${space}`));
    }
    expect(readdirSync(`/proc/${qemu}/root`).toSorted()).toEqual(
      [
        ...['dev', 'etc', 'initramfs', 'kernel', 'lib', 'lib64', 'memory', 'ram-readonly.so', 'root-image', 'scratch'],
        ...['start-gate', 'usr', 'var'],
      ].filter((name) => name !== 'ram-readonly.so' || existsSync(`/proc/${qemu}/root/ram-readonly.so`)),
    );
    expect(readFileSync(`/proc/${qemu}/net/dev`, 'utf8').match(/^\s*\w+:/gm)).toEqual([expect.stringContaining('lo:')]);
    expect(readFileSync(`/proc/${qemu}/environ`, 'latin1').split('\0').filter(Boolean)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(PATH|HOME|USER)=/)]),
    );
    expect(writableMounts(qemu)).toEqual(['/', '/dev/null', '/var/tmp']);
  });

  test('no machine can write to the template that all of them share', async () => {
    await using machine = await start();
    const [template] = readdirSync(cache.path('templates')).filter((name) => !name.startsWith('.'));
    const hashes = () =>
      ['memory', 'state', 'scratch'].map((name) => hashOf(cache.path(`templates/${template}/${name}`)));
    const before = hashes();
    const qemu = insideOf(machine);
    const maps = readFileSync(`/proc/${qemu}/maps`, 'latin1').split('\n');
    const mappings = maps.filter((line) => line.endsWith(' /memory') || line.endsWith('/memory'));
    expect(mappings.map((line) => line.split(' ')[1])).toEqual(mappings.map(() => 'rw-p'));
    expect(mappings.length).toBeGreaterThan(0);
    expect(openForWriting(qemu).filter((path) => path.startsWith('/'))).toEqual([]);

    await machine.sh('head -c 12000000 /dev/urandom > /home/f; cat /home/f > /dev/shm/f');
    expect(hashes()).toEqual(before);
  });

  test('sandbox.P13 copies of one template have random numbers and a machine-id of their own, and the right time', async () => {
    const before = Math.floor(Date.now() / 1000);
    const machines = await Promise.all([start(), start(), start()]);
    try {
      const facts = 'head -c 32 /dev/urandom | od -An -tx1 | tr -d " \\n"; echo; cat /etc/machine-id; date +%s';
      const outputs = await Promise.all(machines.map((machine) => machine.sh(facts)));
      const after = Date.now() / 1000;
      const rows = outputs.map(({ stdout }) => stdout.split('\n'));
      for (const [random, id, seconds] of rows) {
        expect([random, id]).toEqual([
          expect.stringMatching(/^[0-9a-f]{64}$/),
          expect.stringMatching(/^[0-9a-f]{32}$/),
        ]);
        expect(Number(seconds)).toBeGreaterThanOrEqual(before);
        expect(Number(seconds)).toBeLessThanOrEqual(after);
      }
      expect(new Set(rows.map(([random]) => random)).size).toBe(3);
      expect(new Set(rows.map(([, id]) => id)).size).toBe(3);
    } finally {
      for (const machine of machines) await machine[Symbol.asyncDispose]();
    }
  });

  test('a hung machine blocks no caller: calls end at their deadline, and it dies when it is killed', async () => {
    await using machine = await start();
    const qemu = insideOf(machine);
    process.kill(qemu, 'SIGSTOP');
    expect(await machine.sh('echo never', { timeoutMs: 500 })).toMatchObject({ exitCode: 'timed-out', stdout: '' });
    await machine.instance.kill();
    expect([qemu, machine.instance.pid].filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  test.runIf(isFull)(
    'a processor that cannot run a guest is found out by its deadline, and nothing of the attempt is left',
    async () => {
      const before = jails();
      const probe = await new QemuBackend({ cacheDir: cache.root, accelerator: 'kvm' }).probe(
        AbortSignal.timeout(120_000),
      );
      expect(probe.ok ? 'works' : probe.reason).toMatch(/^(works$|no machine boots: |there is no|\/dev\/kvm)/);
      expect(jails()).toEqual(before);
    },
  );

  test('a jail that is killed at any moment of its start takes QEMU with it, and says that it ended', async () => {
    await backend.prepare(shape, AbortSignal.timeout(300_000));
    for (let round = 0; round < JAIL_KILLS; round++) {
      const { signal } = new AbortController();
      const instance = await backend.create(shape, { id: `jail-${process.pid}-${round}`, signal });
      await passed((round % 10) * 3);
      process.kill(instance.pid!, 'SIGKILL');
      expect(await instance.exited).toMatchObject({ signal: 'SIGKILL' });
      await instance.dispose();
    }
    expect(jails()).toEqual([]);
  });

  test(`${IN_SEQUENCE} machines one after another and ${AT_ONCE} at once: none fails, and none is left`, async () => {
    const failures: string[] = [];
    const oneMachine = async (index: number) => {
      await using machine = await start();
      const { stdout } = await machine.sh(`echo ${index}`);
      if (stdout !== String(index)) failures.push(`${index}: ${stdout}`);
    };
    for (let i = 0; i < IN_SEQUENCE; i++) await oneMachine(i).catch((error: unknown) => failures.push(String(error)));
    const together = Array.from({ length: AT_ONCE }, (_, i) => oneMachine(i));
    for (const result of await Promise.allSettled(together)) {
      if (result.status === 'rejected') failures.push(String(result.reason));
    }
    expect(failures).toEqual([]);
    expect(jails()).toEqual([]);
  }, 3_600_000);

  test(`sandbox.P13 sandbox.E12 ${KILLS} daemons are killed: no QEMU outlives them, in use, in the pool or booting`, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const daemon = fork(DAEMON, [cache.root, root.root, '2'], { execArgv: [] });
      const pids = await startedBy(daemon);
      expect(pids.length).toBeGreaterThanOrEqual(8);
      // A running guest notices that its host is gone, and exits. These cannot.
      for (const pid of pids.filter(isInsideJail)) process.kill(pid, 'SIGSTOP');
      daemon.kill('SIGKILL');
      await once(daemon, 'exit');
      await expect.poll(() => pids.filter(isRunning)).toEqual([]);
    }
    // A half-made template does not block the next daemon's, and is removed.
    await backend.prepare({ ...shape, memoryMb: 65 }, AbortSignal.timeout(120_000));
    await backend.sweep();
    const entries = readdirSync(cache.path('templates'));
    expect(entries.filter((name) => name.startsWith('.new-'))).toEqual([]);
  });

  test.runIf(isFull && process.geteuid?.() === 0)(
    'an ordinary user has them too, and they die with his daemon',
    async () => {
      await using own = await guestRoot();
      await using home = await qemuCache();
      for (const dir of [own, home]) chmodSync(dir.root, 0o755);
      execFileSync('chown', ['-R', `${NOBODY_UID}:${NOBODY_UID}`, own.root, home.root]);
      const command = [process.execPath, DAEMON, home.root, own.root, '1'];
      const daemon = spawn(
        'setpriv',
        [`--reuid=${NOBODY_UID}`, `--regid=${NOBODY_UID}`, '--clear-groups', ...command],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          // The folder for temporary files may be root's alone.
          env: { ...process.env, TMPDIR: home.root },
        },
      );
      const pids = await startedBy(daemon);
      const uids = pids.map((pid) => Number(statusOf(pid, ['Uid']).Uid!.split('\t')[0]));
      expect(new Set(uids)).toEqual(new Set([NOBODY_UID]));
      daemon.kill('SIGKILL');
      await expect.poll(() => pids.filter(isRunning)).toEqual([]);
    },
  );

  /** Processes in and around jails of this suite: no others have files of this cache. */
  function jails(): string[] {
    const isOurs = (pid: string) => ['cmdline', 'mountinfo'].some((file) => textOf(pid, file).includes(cache.root));
    return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isOurs(pid));
  }
});

async function startedBy(daemon: ChildProcess): Promise<number[]> {
  const over = AbortSignal.timeout(300_000);
  const ended = once(daemon, 'exit', { signal: over }).then(([code]) =>
    Promise.reject(new Error(`it ended with ${code}`)),
  );
  ended.catch(() => {});
  const [pids] = (await Promise.race([once(daemon, 'message', { signal: over }), ended])) as [number[]];
  return pids;
}

/** QEMU itself: one that is only about to become it has yet to tie its life to that of the jail. */
function isInsideJail(pid: number): boolean {
  const { NSpid, Name } = statusOf(pid, ['NSpid', 'Name']);
  return NSpid!.endsWith('\t1') && Name!.startsWith('qemu');
}

/** The process in the jail of a machine. */
function insideOf({ instance }: TestMachine): number {
  const [child] = readFileSync(`/proc/${instance.pid}/task/${instance.pid}/children`, 'latin1').split(' ');
  return Number(child);
}

function statusOf(pid: number, names: readonly string[]): Record<string, string> {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Object.fromEntries(names.map((name) => [name, new RegExp(`^${name}:\\t(.*)$`, 'm').exec(status)![1]!]));
}

function writableMounts(pid: number): string[] {
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').trim().split('\n');
  const fields = mounts.map((line) => line.split(' '));
  return fields
    .filter(([, , , , , options]) => options!.split(',')[0] === 'rw')
    .map(([, , , , at]) => at!)
    .toSorted();
}

function openForWriting(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fdinfo`)
    .filter(
      (fd) =>
        (parseInt(/^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))![1]!, 8) & 3) !== 0,
    )
    .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    .filter((path) => path !== '/dev/null' && !path.startsWith('/var/tmp/'));
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'latin1');
  } catch {
    return '';
  }
}

/** A zombie does not count. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
