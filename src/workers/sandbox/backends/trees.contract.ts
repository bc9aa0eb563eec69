/** Contract tests of directory trees in a machine: list, walk, remove, change and move. */
import { expect, test } from 'vitest';

import { rounds } from '#testing';
import type { Subject } from './backend.contract.ts';
import { collect, scope, sharedMachine, startMachine } from './machine.contract.ts';

export function treeContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const start = () => startMachine(subject().backend, subject().shape, slowness());
  const shared = sharedMachine(start);

  test('a listing has every entry with its kind, size and mode', async () => {
    const machine = await shared();
    await machine.sh('cd /tmp; echo 12345 > .h; mkdir -m 700 d; ln -s nowhere l; mkfifo o; chmod 644 .h');
    const rows = (await collect(machine.files.list('/tmp', scope()))).flat();
    expect(rows.map(({ name, kind, mode }) => `${name} ${kind} ${mode.toString(8)}`).toSorted()).toEqual([
      '.h file 644',
      'd directory 700',
      'l symlink 777',
      'o other 644',
    ]);
    expect(rows.find(({ name }) => name === '.h')).toMatchObject({ sizeBytes: 6, uid: 0, gid: 0 });
  });

  test('sandbox.F38 a listing of thousands of entries is whole', async () => {
    await using machine = await start();
    const count = slowness() > 1 ? rounds(2_000, 20_000, 20_000) : rounds(10_000, 60_000, 60_000);
    const script = `mkdir /tmp/many; cd /tmp/many; seq 1 ${count} | xargs touch`;
    await machine.sh(script, { timeoutMs: 60_000 * slowness() });
    const { entries, isTruncated } = await machine.fileSystem.ls('/tmp/many', scope());
    expect([entries.length, new Set(entries.map(({ name }) => name)).size, isTruncated]).toEqual([count, count, false]);
  }, 600_000);

  test('removing a tree removes links and not their targets', async () => {
    const machine = await shared();
    await machine.sh(
      'mkdir -p /tmp/t/a/b /tmp/kept; touch /tmp/t/a/b/f /tmp/kept/f; ln -s /tmp/kept /tmp/t/a/l; ln -s /tmp/kept /tmp/dl',
    );
    await machine.files.remove('/tmp/t', { recursive: true, ...scope() });
    await machine.files.remove('/tmp/dl', { recursive: true, ...scope() });
    expect((await machine.sh('ls -A /tmp /tmp/kept')).stdout).toBe('/tmp:\nkept\n\n/tmp/kept:\nf');
  });

  test('changing modes of a tree changes no target of its links', async () => {
    const machine = await shared();
    await machine.sh('mkdir -p /tmp/t/a; touch /tmp/t/f /tmp/out; chmod 600 /tmp/out; ln -s /tmp/out /tmp/t/a/l');
    expect(await machine.files.chmod('/tmp/t', { mode: 0o711, recursive: true, ...scope() })).toBe(3);
    expect((await machine.sh('stat -c "%a" /tmp/t /tmp/t/a /tmp/t/f /tmp/out')).stdout).toBe('711\n711\n711\n600');
  });

  test('sandbox.F21 files and directories move between mounts, with what belongs to them', async () => {
    const machine = await shared();
    await machine.sh(
      'mkdir -p /dev/shm/d/s; echo deep > /dev/shm/d/s/f; chmod 751 /dev/shm/d/s/f; ln -s s/f /dev/shm/d/l; echo x > /dev/shm/f',
    );
    await machine.files.rename('/dev/shm/d', '/home/d', { overwrite: false, ...scope() });
    await machine.files.rename('/dev/shm/f', '/home/f', { overwrite: false, ...scope() });
    expect((await machine.sh('cat /home/d/l /home/f; stat -c %a /home/d/s/f; ls -A /dev/shm /home')).stdout).toBe(
      'deep\nx\n751\n/dev/shm:\n\n/home:\nd\nf',
    );
  });

  test('a move between mounts that runs out of room leaves nothing behind', async () => {
    await using machine = await startMachine(subject().backend, { ...subject().shape, diskMb: 16 }, slowness());
    await machine.sh(
      'mkdir /dev/shm/d; head -c 1000 /dev/zero > /dev/shm/d/a; head -c 20000000 /dev/zero > /dev/shm/d/b',
    );
    const moving = machine.files.rename('/dev/shm/d', '/home/d', { overwrite: false, ...scope() });
    await expect(moving).rejects.toMatchObject({ code: 'ENOSPC' });
    expect((await machine.sh('ls -A /home /dev/shm/d')).stdout).toBe('/dev/shm/d:\na\nb\n\n/home:');
  });

  test('a directory of the image moves as any other', async () => {
    await using machine = await start();
    await machine.files.rename('/etc', '/home/etc', { overwrite: false, ...scope() });
    expect((await machine.sh('ls -d /etc; head -c 4 /home/etc/passwd')).stdout).toBe('root');
  });

  test('a walk lists everything below, and does not follow links', async () => {
    const machine = await shared();
    await machine.sh('mkdir -p /tmp/t/a/b; touch /tmp/t/a/b/f /tmp/t/z; ln -s /home /tmp/t/l');
    const rows = (await collect(machine.files.walk('/tmp/t', { maxDepth: 100, ...scope() }))).flat();
    expect(rows.map(({ name, kind }) => `${kind} ${name}`).toSorted()).toEqual([
      'directory a',
      'directory a/b',
      'file a/b/f',
      'file z',
      'symlink l',
    ]);
  });
}
