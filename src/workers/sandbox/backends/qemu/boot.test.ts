/**
 * Machines that really boot, on an emulated processor: the guest's environment after a boot, and the report of a failed
 * one.
 *
 * QEMU is started here without a jail and without a template: only the machine itself is tested.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { AgentClient } from '#sandbox/guest';
import { guestRoot, qemuCache, whyNoQemu, type TempDir } from '#testing';
import { qemuArguments, qemuProgram, type MachineSpec } from './arguments.ts';
import { prepareIngredients, type Ingredients } from './files/ingredients.ts';
import { makeScratchDisk } from './files/scratch-disk.ts';

const PATIENCE_MS = 120_000;

vi.setConfig({ testTimeout: 2 * PATIENCE_MS, hookTimeout: 2 * PATIENCE_MS });

const whyNot = await whyNoQemu();

describe.skipIf(whyNot !== undefined)(`booting${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let ingredients: Ingredients;

  beforeAll(async () => {
    root = await guestRoot();
    root.add({ 'var/shared/': '', 'etc/key': { content: 'k', mode: 0o640 }, dev: { symlink: 'home' } });
    chmodSync(root.path('var/shared'), 0o1777);
    cache = await qemuCache();
    const image = { name: 'busybox', ref: 'busybox', digest: 'sha256:test', directory: async () => root.root, env: [] };
    ingredients = await prepareIngredients(image, { cacheDir: cache.root, signal: AbortSignal.timeout(PATIENCE_MS) });
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  function boot(more: Partial<MachineSpec> = {}) {
    const spec: MachineSpec = { accelerator: 'tcg', machine: 'microvm', cpus: 1, memoryMb: 48, ingredients, ...more };
    const qemu = spawn(qemuProgram(), qemuArguments(spec), { stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] });
    const exited = once(qemu, 'close').then(([code]) => ({ code: code as number | null, said }));
    let said = '';
    for (const output of [qemu.stdout!, qemu.stderr!]) output.on('data', (piece: Buffer) => (said += piece.toString()));
    qemu.stdio[4]!.on('error', () => {});
    const channel = qemu.stdio[3] as Duplex;
    channel.on('error', () => {});
    return {
      exited,
      agent: () => AgentClient.open(channel, { deadlineMs: PATIENCE_MS }),
      async [Symbol.asyncDispose]() {
        qemu.kill('SIGKILL');
        await exited;
      },
    };
  }

  async function sh(agent: AgentClient, script: string): Promise<string> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const limits = { maxOutputBytes: 65_536, timeoutMs: PATIENCE_MS, signal };
    const outcome = await agent.exec({ argv: ['/bin/sh', '-c', script], env: [['PATH', '/bin']], cwd: '/', ...limits });
    return outcome.timedOut ? 'timed-out' : outcome.stdout.toString().trim() + outcome.stderr.toString().trim();
  }

  describe('a machine with little memory and more disk', () => {
    let machine: ReturnType<typeof boot>;
    let agent: AgentClient;

    beforeAll(async () => {
      makeScratchDisk(cache.path('disk'), { diskMb: 64 });
      machine = boot({ memoryMb: 24, scratch: { path: cache.path('disk'), use: 'private' } });
      agent = await machine.agent();
    });

    afterAll(async () => {
      await machine[Symbol.asyncDispose]();
    });

    test('has the files of its image as they are, and a name in it where a mount has to be is not an escape', async () => {
      expect(await sh(agent, 'stat -c "%a %U" /var/shared /etc/key /tmp /dev; ls -A /home; cat /image-file')).toBe(
        '1777 root\n640 root\n1777 root\n755 root\nfrom the image',
      );
    });

    test('keeps files that do not fit its memory, up to the size of its disk', async () => {
      const program = readFileSync(root.path('bin/busybox'));
      const copies = Math.floor(50_000_000 / program.length);
      const expected = createHash('md5');
      for (let i = 0; i < copies; i++) expected.update(program);

      const write = `i=0; while [ $i -lt ${copies} ]; do cat /bin/busybox; i=$((i+1)); done > /home/large`;
      expect(await sh(agent, `${write}; md5sum < /home/large`)).toBe(`${expected.digest('hex')}  -`);
      expect(await sh(agent, "df -m / | tail -1 | awk '{ print $2 }'")).toBe('64');
      expect(await sh(agent, 'dd if=/dev/zero of=/home/full bs=1M count=100')).toContain('No space left on device');
      expect(await sh(agent, "rm /home/*; df -m / | tail -1 | awk '{ print $3 }'")).toBe('0');
    });

    test('gives commands no more than a sandbox of namespaces does', async () => {
      expect(await sh(agent, 'ps -o comm | grep -c kthreadd')).toBe('0');
      expect(await sh(agent, 'grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status | tr -s "\\t\\n" "  "')).toBe(
        'CapEff: 00000000000004fb CapBnd: 00000000000004fb NoNewPrivs: 1',
      );
      expect(await sh(agent, 'echo x > /proc/sys/kernel/core_pattern')).toContain('Read-only file system');
      expect(await sh(agent, 'ls /dev; ls /sys')).toBe(
        'fd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzerols: /sys: No such file or directory',
      );
      expect(await sh(agent, 'cat /proc/sys/kernel/modprobe /proc/sys/kernel/modules_disabled')).toBe('1');
      expect(await sh(agent, 'cat /proc/self/cgroup; mount | grep -c cgroup; ulimit -c; ulimit -n')).toBe(
        '0::/all\n0\n0\n65536',
      );
    });
  });

  test.each(['microvm', 'q35'] as const)(
    'a machine of the kind %s answers, and ends when its channel closes',
    async (kind) => {
      await using machine = boot({ machine: kind });
      const agent = await machine.agent();
      expect(await sh(agent, 'echo up; hostname')).toBe('up\nsandbox');
      agent.close();
      expect(await machine.exited).toEqual({
        code: 0,
        said: expect.stringMatching(/^\[ *\d+\.\d+\] reboot: Restarting system\s*$/),
      });
    },
  );

  const wrong: [string, keyof Ingredients, Buffer, number, RegExp][] = [
    ['a file that is not a kernel', 'kernel', Buffer.alloc(8192, 'k'), 1, /kernel/],
    ['a file that is not an initramfs', 'initramfs', Buffer.alloc(8192, 'i'), 0, /Kernel panic - not syncing: VFS/],
    [
      'a file that is not a root',
      'root',
      Buffer.alloc(8192, 'r'),
      0,
      /boot: cannot mount \/dev\/vd. on \/lower: Invalid argument/,
    ],
  ];

  test.each(wrong)('%s ends the machine, which says why', async (_, name, content, code, said) => {
    writeFileSync(cache.path('wrong'), content);
    await using machine = boot({ ingredients: { ...ingredients, [name]: cache.path('wrong') } });
    await expect(machine.agent()).rejects.toThrow('the guest is gone');
    expect(await machine.exited).toEqual({ code, said: expect.stringMatching(said) });
  });
});
