/**
 * Escapes from a sandbox, each tried from inside by a hostile program. All must fail, and nothing of a
 * sandbox may be left when it is gone.
 *
 * Namespaces share the kernel of the host, so there every attack has exactly one right answer. A guest with a kernel
 * of its own may break that kernel; what counts is that nothing behind it is reached.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { guestRoot, rounds, SLOWNESS, tempDir, TEST_BACKEND, type TempDir } from '#testing';
import type { SandboxBackend, Shape } from '../../../src/workers/sandbox/backends/backend.ts';
import { GuestLost } from '../../../src/sandbox/guest/guest-error.ts';
import { backendCache, makeBackend, start as startOn, whyNoBackend } from '../../sandbox-backend.ts';

const sharesKernel = TEST_BACKEND === 'namespaces';
const CREATES = rounds(25, 100, 1000) / (sharesKernel ? 1 : 5);
const whyNot = await whyNoBackend();

const EPERM = '1';
const ENOENT = '2';
const EACCES = '13';
const EROFS = '30';
const ENOSYS = '38';
const ESRCH = '3';
const EAFNOSUPPORT = '97';
const ECONNREFUSED = '111';

/** The expected answer to each attack. If there are two, it depends on the kernel and on the user. */
const ANSWERS: Record<string, string[]> = {
  'unshare-user': [EPERM],
  'clone-user': [EPERM],
  'unshare-mount': [EPERM],
  'clone-mount': [EPERM],
  'unshare-pid': [EPERM],
  'clone-pid': [EPERM],
  'unshare-net': [EPERM],
  'clone-net': [EPERM],
  'unshare-cgroup': [EPERM],
  'clone-cgroup': [EPERM],
  clone3: [ENOSYS],
  setns: [EPERM, EACCES],
  'mknod-disk': [EPERM],
  'mknod-mem': [EPERM],
  'open-mem': [ENOENT],
  'open-kmsg': [ENOENT],
  'open-kvm': [ENOENT],
  'open-fuse': [ENOENT],
  'socket-vsock': [EAFNOSUPPORT],
  'socket-packet': [EAFNOSUPPORT],
  'socket-raw': [EPERM],
  'socket-alg': [EAFNOSUPPORT],
  'abstract-socket': [ECONNREFUSED],
  mount: [EPERM],
  'mount-proc': [EPERM],
  remount: [EPERM],
  umount: [EPERM],
  'pivot-root': [EPERM],
  chroot: [EPERM],
  'open-tree': [EPERM],
  'open-by-handle': [EPERM],
  keyctl: [EPERM],
  'add-key': [EPERM],
  'request-key': [EPERM],
  bpf: [EPERM],
  'perf-event': [EPERM],
  userfaultfd: [EPERM],
  'io-uring': [EPERM],
  'init-module': [EPERM],
  kexec: [EPERM],
  reboot: [EPERM],
  swapoff: [EPERM],
  clock: [EPERM],
  hostname: [EPERM],
  syslog: [EPERM],
  nice: [EACCES, EPERM],
  'ptrace-agent': [EPERM],
  'read-agent': [EPERM],
  'agent-memory': [EACCES],
  'agent-descriptors': [EACCES],
  'ptrace-host': [ESRCH],
  'kill-host': [ESRCH],
  'core-pattern': [EROFS, EACCES],
  modprobe: [EROFS, EACCES, ENOENT],
  sysrq: [EROFS, EACCES, ENOENT],
  'ip-forward': [EROFS, EACCES],
  'uid-map': [EPERM],
  'agent-binary': [EACCES],
};

/** gVisor gives its first process a HOME and shows its addresses, but not their content. */
const ABOUT_THE_AGENT = ['/proc/1/environ', ...(TEST_BACKEND === 'gvisor' ? [] : ['/proc/1/maps'])];

/** Attacks that would reach past a guest kernel, or the agent. */
const BEYOND_THE_GUEST = [
  'mknod-disk',
  'mknod-mem',
  'open-mem',
  'open-kvm',
  'socket-vsock',
  'abstract-socket',
  'bpf',
  'init-module',
  'kexec',
  'ptrace-agent',
  'read-agent',
  'agent-memory',
  'agent-descriptors',
  'agent-binary',
  'ptrace-host',
  'kill-host',
  'core-pattern',
  'modprobe',
];

describe.skipIf(whyNot !== undefined)(`a program that wants out${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let shape: Shape;
  let backend: SandboxBackend;
  const start = () => startOn(backend, shape);

  beforeAll(async () => {
    root = await guestRoot();
    cache = await backendCache();
    const source = fileURLToPath(new URL('sandbox-attacks.c', import.meta.url));
    execFileSync('gcc', ['-static', '-pthread', '-O1', '-w', '-o', root.path('bin/attacks'), source]);
    // A set-uid program of root in the image; unpacking would drop the bit.
    root.add({ 'euid.c': '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%d\\n", geteuid()); }' });
    execFileSync('gcc', ['-static', '-o', root.path('bin/euid'), root.path('euid.c')]);
    chmodSync(root.path('bin/euid'), 0o4755);
    backend = makeBackend(cache.root);
    const image = { name: 'attacks', ref: 'attacks', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 128, diskMb: 32 };
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  test('sandbox.P5 every attack is refused: all with the reason that is meant, or at least those that would leave the guest', async () => {
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(`\0workcell-host-secret-${process.pid}`, resolve));
    try {
      await using machine = await start();
      const { stdout, exitCode } = await machine.sh(`attacks ${process.pid}`);
      expect(exitCode).toBe(0);
      const answers = new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
      expect([...answers.keys()].toSorted()).toEqual(Object.keys(ANSWERS).toSorted());
      const isWrong = ([name, answer]: [string, string]) =>
        sharesKernel ? !ANSWERS[name]!.includes(answer) : BEYOND_THE_GUEST.includes(name) && answer === 'done';
      expect([...answers].filter(isWrong)).toEqual([]);
    } finally {
      server.close();
    }
  });

  test.skipIf(!sharesKernel)(
    'what all machines share is neither revealed nor used up: the line that started the kernel, terminals',
    async () => {
      await using machine = await start();
      await machine.sh('for i in $(seq 70); do sleep 20 <> /dev/ptmx & done; sleep 1');
      expect((await machine.sh('wc -c < /proc/cmdline; ls /dev/pts | grep -vc ptmx')).stdout).toBe('0\n64');
    },
  );

  test('sandbox.P5 a secret of the host is nowhere to be found', async () => {
    const secret = randomBytes(12).toString('hex');
    await using dir = await tempDir({ secret });
    process.env.WORKCELL_TEST_SECRET = secret;
    try {
      await using machine = await start();
      // Not in any file, environment, command line or map. The words of the search itself are cut in two.
      const halves = [secret.slice(0, 12), secret.slice(12)];
      const found = await machine.sh(
        `p=$(printf %s%s ${halves.join(' ')}); ` +
          'for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/mountinfo /proc/mounts; do grep -l -- "$p" $f; done 2>/dev/null | grep -v "/$$/"; ' +
          `for d in /[!pdb]*; do grep -rsl -- "$p" $d; done; ls ${dir.root} ${process.cwd()}`,
      );
      expect(found.stdout).toBe('');
      expect(found.stderr).toMatch(/No such file/);
    } finally {
      delete process.env.WORKCELL_TEST_SECRET;
    }
  }, 60_000);

  test('sandbox.P5 no process of the host is seen, and no descriptor comes along', async () => {
    await using machine = await start();
    expect(Number((await machine.sh('ls -d /proc/[0-9]* | wc -l')).stdout)).toBeLessThan(8);
    const { stdout } = await machine.sh('for f in /proc/self/fd/*; do readlink $f; done');
    expect(stdout.split('\n').filter((target) => target !== '/dev/null' && !target.startsWith('pipe:'))).toEqual([]);
    expect((await machine.sh(`ls /proc/${process.pid}/environ`)).exitCode).toBe(1);
    expect(
      (
        await machine.sh(
          `cat ${ABOUT_THE_AGENT.join(' ')} | tr '\\0' '\\n' | grep -vc '^HOME=/root$'; ls -l /proc/1/fd /proc/1/root /proc/1/exe 2>&1 | grep -c denied`,
        )
      ).stdout,
    ).toMatch(/^0\n[1-9]\d*$/);
  });

  test('a set-uid program gives no rights', async () => {
    await using machine = await start();
    const reply = await machine.sh('ls -l /bin/euid | cut -c1-4; euid', { uid: 65534, gid: 65534 });
    if (reply.exitCode === 'EINVAL' || reply.exitCode === 'EPERM') return;
    expect(reply.stdout).toBe('-rws\n65534');
  });

  test.skipIf(process.arch !== 'x64' || !sharesKernel)('calls of another processor mode end the program', async () => {
    await using machine = await start();
    await using dir = await tempDir({
      'x.c':
        '#include <stdio.h>\n#include <unistd.h>\n#include <sys/syscall.h>\nint main(int c,char**v){ if(c>1){ long r; __asm__ volatile("int $0x80":"=a"(r):"a"(20)); printf("%ld\\n",r);} else printf("%ld\\n", syscall(0x40000000|39)); }',
    });
    execFileSync('gcc', ['-static', '-w', '-o', dir.path('x'), dir.path('x.c')]);
    const file = readFileSync(dir.path('x'));
    await machine.files.write(
      '/tmp/x',
      only(file),
      { mode: 0o755, parents: false },
      { signal: AbortSignal.timeout(30_000) },
    );
    expect((await machine.sh('/tmp/x')).stdout).toBe('-1');
    // Killed by the filter, or by a kernel that has no such mode at all.
    expect([128 + 31, 128 + 11]).toContain((await machine.sh('/tmp/x 32')).exitCode);
  });

  test('the agent cannot be ended from inside; on gVisor that ends the machine, and nothing else', async () => {
    await using machine = await start();
    await using other = await start();
    const ending = machine.sh('kill -9 1; kill -15 1; kill -9 -1').catch((error: unknown) => error);
    if (TEST_BACKEND === 'gvisor') {
      expect(await ending).toBeInstanceOf(GuestLost);
      await machine.instance.exited;
    } else {
      await ending;
      expect((await machine.sh('echo alive')).stdout).toBe('alive');
    }
    expect((await other.sh('echo alive')).stdout).toBe('alive');
  });

  test('an image cannot redirect mounts by symlinks instead of directories', async () => {
    // Not below /tmp, which is a different mount while a sandbox is made.
    const outside = mkdtempSync('/var/tmp/workcell-');
    chmodSync(outside, 0o755);
    try {
      await using image = await guestRoot();
      rmSync(image.path('etc'), { recursive: true });
      for (const name of ['dev', 'proc', 'tmp', 'etc']) {
        mkdirSync(join(outside, name));
        symlinkSync(join(outside, name), image.path(name));
      }
      await using machine = await startOn(backend, {
        ...shape,
        image: { ...shape.image, directory: async () => image.root, digest: 'links' },
      });
      expect((await machine.sh('ls -d /dev/null /proc/self/fd; test -L /dev -o -L /proc; echo $?')).stdout).toBe(
        '/dev/null\n/proc/self/fd\n1',
      );
      expect(['dev', 'proc', 'tmp', 'etc'].flatMap((name) => readdirSync(join(outside, name)))).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test.each([
    ['a chain of processes that each start the next and end', 'run'],
    ['a process whose first thread has ended', 'play-dead'],
  ])('%s does not outlive its command', async (_, attack) => {
    await using machine = await start();
    expect(await machine.sh(`attacks ${attack}`, { timeoutMs: 500 * SLOWNESS })).toMatchObject({
      exitCode: 'timed-out',
    });
    expect((await machine.sh('sleep 0.2; ps -o args | grep -c "[a]ttacks"')).stdout).toBe('0');
  });

  test(`${CREATES} machines, each ended at another moment, leave nothing`, async () => {
    const before = traces(cache.root);
    for (let i = 0; i < CREATES; i += 4) {
      await Promise.all([0, 1, 2, 3].map((k) => createAndEnd(i + k)));
    }
    expect(traces(cache.root)).toEqual(before);
  }, 300_000);

  /** Killed before the agent greets, right after, with a command running, or from inside. */
  async function createAndEnd(i: number): Promise<void> {
    if (i % 4 === 0) {
      const instance = await backend.create(shape, { id: `early-${i}`, signal: new AbortController().signal });
      if (i % 8 === 0) process.kill(instance.pid!, 'SIGKILL');
      await instance.kill();
      await instance.dispose();
      return;
    }
    await using machine = await start();
    if (i % 4 === 1) return;
    const busy = machine.sh('(setsid sleep 311 &); sleep 312').catch(() => {});
    if (i % 4 === 3) process.kill(machine.instance.pid!, 'SIGKILL');
    else await machine.instance.kill();
    await busy;
  }
});

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Possible leftovers of a sandbox on the host: processes, groups, mounts, descriptors. */
function traces(cacheDir: string): Record<string, number | string[]> {
  const processes = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || !existsSync(`/proc/${name}/cmdline`)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'latin1');
      return words.includes(cacheDir) || words.includes('sleep\x00311\x00') || words.includes('sleep\x00312\x00');
    } catch {
      return false;
    }
  });
  const groups = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `workcell-sandbox.${process.pid}-*`], {
    encoding: 'utf8',
  });
  return {
    processes,
    groups: groups.split('\n').filter(Boolean),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length,
    descriptors: readdirSync('/proc/self/fd').length,
  };
}
