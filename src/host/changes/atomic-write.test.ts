import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { tempName } from './atomic-write-temp.ts';
import { PendingFile, writeWhole } from './atomic-write.ts';
import type { HostError } from '../host-error.ts';
import { openJail } from '../jail/jail.ts';

type TempDir = Awaited<ReturnType<typeof tempDir>>;

const options = { isSynced: false };
const reasonOf = (error: unknown) => (error as HostError).reason;
const text = (dir: TempDir, name: string) => readFileSync(dir.path(name), 'utf8');

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const target = (dir: TempDir, path: string) => openJail(dir.root, { mode }).target(path);

  test('a file written in pieces appears only when it is complete', async () => {
    await using dir = await tempDir({ a: 'old' });
    using entry = target(dir, 'a');
    {
      using pending = await PendingFile.at(entry);
      await pending.append(Buffer.from('one '));
      await pending.append(Buffer.from('two'));
      expect(text(dir, 'a')).toBe('old');
      expect(readdirSync(dir.root)).toHaveLength(2);
      await pending.commit({ isSynced: true });
    }
    expect([readdirSync(dir.root), text(dir, 'a')]).toEqual([['a'], 'one two']);
  });

  test('a file that differs at its end or only in its mode is written; an equal one is not', async () => {
    const bytes = Buffer.alloc(200_000, 'x');
    await using dir = await tempDir({ a: bytes });
    const isWritten = async (changed: Buffer, mode?: number) => {
      utimesSync(dir.path('a'), 1, 1);
      using entry = target(dir, 'a');
      await writeWhole(entry, changed, { ...options, mode });
      return statSync(dir.path('a')).mtimeMs !== 1000;
    };
    expect(await isWritten(bytes)).toBe(false);
    expect(await isWritten(bytes, 0o600)).toBe(true);
    expect(await isWritten(Buffer.concat([bytes.subarray(1), Buffer.from('y')]))).toBe(true);
    expect(text(dir, 'a').slice(-2)).toBe('xy');
  });

  test.skipIf(process.platform !== 'linux')('the descriptors of replaced files are all closed', async () => {
    await using dir = await tempDir({ a: '' });
    const openFds = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).startsWith(dir.root));
    for (let i = 0; i < 50; i++) {
      using entry = target(dir, 'a');
      await writeWhole(entry, Buffer.from(`${i}`), options);
    }
    await expect.poll(openFds).toEqual([]);
  });

  test('a large file is written completely and yields to other work in between', async () => {
    await using dir = await tempDir();
    using entry = target(dir, 'large');
    const bytes = Buffer.alloc(5_000_000, 'abcdefg');
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    await writeWhole(entry, bytes, options);
    clearInterval(counting);
    expect(readFileSync(dir.path('large')).equals(bytes)).toBe(true);
    expect(turns).toBeGreaterThan(0);
  });

  test('a pending file that is not committed leaves nothing', async () => {
    await using dir = await tempDir({ a: 'old' });
    using entry = target(dir, 'a');
    {
      using pending = await PendingFile.at(entry);
      await pending.append(Buffer.from('new'));
    }
    expect([readdirSync(dir.root), text(dir, 'a')]).toEqual([['a'], 'old']);
  });

  test('a file that another program created or changed meanwhile is not overwritten', async () => {
    await using dir = await tempDir({ changed: 'old', replaced: 'old', linked: 'old', outside: 'outside' });
    const entries = ['new', 'changed', 'replaced', 'linked'].map((name) => target(dir, name));
    dir.add({ new: 'theirs', 'replaced~': 'old' });
    writeFileSync(dir.path('changed'), 'theirs');
    renameSync(dir.path('replaced~'), dir.path('replaced'));
    renameSync(dir.path('linked'), dir.path('moved'));
    symlinkSync('outside', dir.path('linked'));
    const before = readdirSync(dir.root);

    const reasons = [];
    for (const entry of entries) {
      reasons.push(await writeWhole(entry, Buffer.from('ours'), options).catch(reasonOf));
      entry.close();
    }
    expect(reasons).toEqual(['exists', 'io', 'io', 'io']);
    expect([text(dir, 'new'), text(dir, 'changed'), text(dir, 'outside')]).toEqual(['theirs', 'theirs', 'outside']);
    expect(readdirSync(dir.root)).toEqual(before);
  });

  test.skipIf(process.getuid?.() !== 0)('owner and special bits are kept', async () => {
    await using dir = await tempDir({ a: 'old' });
    chownSync(dir.path('a'), 1234, 2345);
    chmodSync(dir.path('a'), 0o6751);
    using entry = target(dir, 'a');
    await writeWhole(entry, Buffer.from('new'), options);
    const { uid, gid, mode: bits } = statSync(dir.path('a'));
    expect([uid, gid, bits & 0o7777]).toEqual([1234, 2345, 0o6751]);
  });

  test('a directory swapped in after the path was resolved is not written to', async () => {
    await using dir = await tempDir({ 'folder/': '' });
    using entry = target(dir, 'folder/a');
    renameSync(dir.path('folder'), dir.path('moved'));
    dir.add({ 'folder/': '' });
    const outcome = await writeWhole(entry, Buffer.from('new'), options).catch(reasonOf);
    // The descriptor jail writes to the moved directory, which it holds open; the portable jail detects the swap.
    expect([outcome, readdirSync(dir.path('moved'))]).toEqual(mode === 'descriptor' ? [{}, ['a']] : ['io', []]);
    expect(readdirSync(dir.path('folder'))).toEqual([]);
  });
});

test.skipIf(process.getuid?.() !== 0)(
  'bits that lend the rights of an owner go when the owner cannot stay',
  async () => {
    await using dir = await tempDir({ 'ws/a': 'old' });
    chmodSync(dir.root, 0o755);
    chmodSync(dir.path('ws'), 0o777);
    chmodSync(dir.path('ws/a'), 0o6755);
    process.seteuid!(1234);
    try {
      using entry = openJail(dir.path('ws')).target('a');
      await writeWhole(entry, Buffer.from('new'), options);
    } finally {
      process.seteuid!(0);
    }
    const { uid, mode } = statSync(dir.path('ws/a'));
    expect([uid, mode & 0o7777]).toEqual([1234, 0o755]);
  },
);

test('temporary names are long and unique', () => {
  const names = Array.from({ length: 1000 }, tempName);
  expect(new Set(names).size).toBe(1000);
  expect(names[0]).toMatch(/^\.workcell-[0-9a-f]{8}-\d+-[0-9a-f]{32}$/);
});

test('the first write in a directory removes the temporary files of dead processes only', async () => {
  const dead = spawnSync('true').pid;
  const name = (pid: number, space?: string) => tempName().replace(/-([0-9a-f]{8})-\d+-/, `-${space ?? '$1'}-${pid}-`);
  const left = [name(dead), name(process.pid, '00000000'), name(dead, '00000000')];
  const living = [name(process.pid), name(process.ppid), name(dead, '00000000')];
  const others = ['.workcell', '.workcell-notes', `${name(dead)}.txt`];
  const link = name(dead);
  await using dir = await tempDir(Object.fromEntries([...left, ...living, ...others].map((file) => [file, ''])));
  dir.add({ [link]: { symlink: 'nothing' }, 'sub/': '', [`sub/${name(dead)}`]: '' });
  // Pids of another container cannot be checked, so only the age counts.
  for (const file of left.slice(1)) utimesSync(dir.path(file), 1, Date.now() / 1000 - 7200);

  using entry = openJail(dir.root).target('new');
  await writeWhole(entry, Buffer.from('x'), options);
  expect(readdirSync(dir.root)).toEqual([...living, ...others, link, 'new', 'sub'].sort());
  expect(readdirSync(dir.path('sub'))).toHaveLength(1);
});

/** Empty if the descriptor is closed by now, such as the one that listed the others. */
function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
