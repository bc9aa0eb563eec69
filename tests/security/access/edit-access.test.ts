/**
 * A file with an access list, attributes or hard links, changed in every way that the workers have. A user that could not
 * read it before cannot afterwards; as root, and as an ordinary user that does not own the file.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import { HostError, openJail } from '#host';
import { run, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';
import { PendingFile } from '../../../src/host/changes/atomic-write.ts';
import { systemCalls } from '../../../src/host/system/system-calls.ts';

const attributes = systemCalls()?.attributes;
const isRoot = process.getuid?.() === 0;

const LIST = 'system.posix_acl_access';
const DEFAULT_LIST = 'system.posix_acl_default';
const NOTE = 'user.workcell.note';

/** A user and a group that do not exist on this machine. */
const OTHER_USER = 4321;
const DENIED_GROUP = 2345;
const READER = 1234;

type Entry = [tag: 'user' | 'namedUser' | 'group' | 'mask' | 'others', permissions: number, id?: number];
const TAGS = { user: 1, namedUser: 2, group: 4, mask: 0x10, others: 0x20 };

/** As the kernel keeps it. */
function accessList(...entries: Entry[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * entries.length);
  bytes.writeUInt32LE(2);
  for (const [i, [tag, permissions, id = 0xffffffff]] of entries.entries()) {
    bytes.writeUInt16LE(TAGS[tag], 4 + 8 * i);
    bytes.writeUInt16LE(permissions, 6 + 8 * i);
    bytes.writeUInt32LE(id, 8 + 8 * i);
  }
  return bytes;
}

/** One named user may read and write, so the mask is rw; the owning group has no access. */
const GROUP_DENIED = accessList(['user', 6], ['namedUser', 6, READER], ['group', 0], ['mask', 6], ['others', 0]);

interface Config {
  coder: object;
  filesystem: object;
  shell: object;
}
type Change = (config: Config, path: string, root: string) => Promise<unknown>;

const call = (worker: keyof Config, id: string, payload: object, config: Config) => {
  const def = { coder, filesystem, shell }[worker];
  const fn = def.functions.find((each) => each.id === id)!;
  return run(fn as Parameters<typeof run>[0], payload, config[worker] as Record<string, unknown>);
};

const changes: [string, Change][] = [
  ['coder::update-file', (config, path) => call('coder', 'coder::update-file', updating(path), config)],
  ['coder::create-file', (config, path) => call('coder', 'coder::create-file', creating(path), config)],
  ['filesystem::write', (c, path, root) => call('filesystem', 'filesystem::write', written(root, path), c)],
  [
    'filesystem::edit',
    (c, path, root) =>
      call('filesystem', 'filesystem::edit', { path: `${root}/${path}`, old_string: 'old', new_string: 'new' }, c),
  ],
  [
    'filesystem::insert',
    (c, path, root) =>
      call('filesystem', 'filesystem::insert', { path: `${root}/${path}`, line: 1, content: 'new' }, c),
  ],
  ['shell::fs::write', (config, path, root) => call('shell', 'shell::fs::write', written(root, path), config)],
  [
    'shell::fs::sed',
    (c, path, root) =>
      call('shell', 'shell::fs::sed', { files: [`${root}/${path}`], pattern: 'old', replacement: 'new' }, c),
  ],
];

const updating = (path: string) => ({
  files: [{ path, ops: [{ op: 'replace', pattern: 'old', replacement: 'new' }] }],
});
const creating = (path: string) => ({ files: [{ path, content: 'new\n', overwrite: true }] });
const written = (root: string, path: string) => ({ path: `${root}/${path}`, content: 'new\n' });

const configFor = (root: string): Config => ({
  coder: { base_path: root, fsync: false },
  filesystem: { paths: [root] },
  shell: { fs: { host_root: root } },
});

/** Whether a member of the group can read the content. */
function canRead(path: string, { uid, gid }: { uid: number; gid: number }): boolean {
  return spawnSync('cat', [path], { uid, gid }).status === 0;
}

async function openDir(): Promise<TempDir> {
  const dir = await tempDir({ 'ws/a.txt': 'old\n' });
  chmodSync(dir.root, 0o755);
  chmodSync(dir.path('ws'), 0o777);
  return dir;
}

/** A reply as text, with the failures of its parts. */
const textOf = (reply: unknown) => JSON.stringify(reply);

describe.skipIf(!attributes)('a file with an access list and attributes', () => {
  test.each(changes)('%s keeps them', async (_, change) => {
    await using dir = await openDir();
    const path = Buffer.from(dir.path('ws/a.txt'));
    if (isRoot) chownSync(path, OTHER_USER, DENIED_GROUP);
    attributes!.set(path, NOTE, Buffer.from('kept'));
    attributes!.set(path, LIST, GROUP_DENIED);

    await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws'));
    expect(readFileSync(path, 'utf8')).toMatch(/^new/);
    expect(attributes!.get(path, LIST)).toEqual(GROUP_DENIED);
    expect(attributes!.get(path, NOTE).toString()).toBe('kept');
    if (!isRoot) return;
    expect(canRead(dir.path('ws/a.txt'), { uid: 9999, gid: DENIED_GROUP })).toBe(false);
    expect(canRead(dir.path('ws/a.txt'), { uid: READER, gid: READER })).toBe(true);
  });

  test('another file under its name for a moment gives it no access', async () => {
    const open = accessList(['user', 6], ['namedUser', 4, READER], ['group', 0], ['mask', 4], ['others', 0]);
    await using dir = await tempDir({ 'a.txt': { content: 'old\n', mode: 0o640 }, 'b.txt': 'open' });
    attributes!.set(Buffer.from(dir.path('b.txt')), LIST, open);
    const swap = (away: string, instead: string) => {
      renameSync(dir.path('a.txt'), dir.path(away));
      renameSync(dir.path(instead), dir.path('a.txt'));
    };
    using entry = openJail(dir.root).target('a.txt');
    using pending = await PendingFile.at(entry);
    await pending.append(Buffer.from('new\n'));
    swap('kept.txt', 'b.txt');
    // It awaits the sync of the file; by then it has copied the attributes.
    const committing = pending.commit({ isSynced: true });
    swap('b.txt', 'kept.txt');
    await expect(committing).rejects.toThrow(HostError);
    expect(readFileSync(dir.path('a.txt'), 'utf8')).toBe('old\n');
  });

  test.runIf(isRoot).each(changes)(
    '%s by a user that is not the owner opens it to no other user',
    async (_, change) => {
      // A member of the group must not gain the access of others.
      const othersRead = accessList(['user', 6], ['namedUser', 6, READER], ['group', 0], ['mask', 6], ['others', 4]);
      for (const list of [GROUP_DENIED, othersRead]) {
        await using dir = await openDir();
        const path = Buffer.from(dir.path('ws/a.txt'));
        chownSync(path, OTHER_USER, DENIED_GROUP);
        attributes!.set(path, LIST, list);
        process.setgroups!([]);
        process.setegid!(READER);
        process.seteuid!(READER);
        try {
          await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws'));
        } finally {
          process.seteuid!(0);
          process.setegid!(0);
        }
        expect(readFileSync(path, 'utf8')).toMatch(/^new/);
        expect(statSync(path).uid).toBe(READER);
        expect(canRead(dir.path('ws/a.txt'), { uid: 9999, gid: DENIED_GROUP })).toBe(false);
        expect(canRead(dir.path('ws/a.txt'), { uid: 9999, gid: READER })).toBe(false);
      }
    },
  );

  test.runIf(isRoot)('a copy and its folder are as closed as what was copied', async () => {
    await using dir = await openDir();
    dir.add({ 'ws/tree/b.txt': 'old\n' });
    for (const name of ['ws/tree', 'ws/tree/b.txt', 'ws/a.txt']) {
      const list = accessList(['user', 7], ['namedUser', 7, READER], ['group', 0], ['mask', 7], ['others', 0]);
      attributes!.set(Buffer.from(dir.path(name)), LIST, list);
    }
    const copying = (from: string, to: string) =>
      call(
        'filesystem',
        'filesystem::cp',
        { source: dir.path(from), destination: dir.path(to), recursive: true },
        configFor(dir.path('ws')),
      );
    expect(await copying('ws/a.txt', 'ws/copy.txt')).toMatchObject({ success: true });
    expect(await copying('ws/tree', 'ws/copied')).toMatchObject({ success: true });
    for (const name of ['ws/copy.txt', 'ws/copied/b.txt']) {
      expect(canRead(dir.path(name), { uid: 9999, gid: 0 })).toBe(false);
      expect(canRead(dir.path(name), { uid: READER, gid: READER })).toBe(true);
    }
    const listing = spawnSync('ls', [dir.path('ws/copied')], { uid: 9999, gid: 0 });
    expect(listing.status).not.toBe(0);
  });

  test.runIf(existsSync('/dev/shm'))('a move to another device keeps them', async ({ skip }) => {
    await using dir = await openDir();
    const shm = mkdtempSync('/dev/shm/workcell-');
    try {
      if (statSync(shm).dev === statSync(dir.root).dev) skip('/dev/shm is on the same device');
      const path = Buffer.from(dir.path('ws/a.txt'));
      attributes!.set(path, LIST, GROUP_DENIED);
      const config = { ...configFor(dir.path('ws')), filesystem: { paths: [dir.path('ws'), shm] } };
      const moving = { source: dir.path('ws/a.txt'), destination: `${shm}/a.txt` };
      expect(await call('filesystem', 'filesystem::mv', moving, config)).toMatchObject({ success: true });
      expect(attributes!.get(Buffer.from(`${shm}/a.txt`), LIST)).toEqual(GROUP_DENIED);
    } finally {
      rmSync(shm, { recursive: true });
    }
  });

  test.runIf(isRoot).each(changes)('%s gives no list of the directory to a file that has none', async (_, change) => {
    await using dir = await openDir();
    const forNew = accessList(['user', 6], ['namedUser', 6, READER], ['group', 4], ['mask', 6], ['others', 0]);
    attributes!.set(Buffer.from(dir.path('ws')), DEFAULT_LIST, forNew);
    chmodSync(dir.path('ws/a.txt'), 0o640);
    await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws'));
    expect(attributes!.list(Buffer.from(dir.path('ws/a.txt')))).toEqual([]);
    expect(canRead(dir.path('ws/a.txt'), { uid: READER, gid: READER })).toBe(false);
  });

  test.each(changes)('%s is refused, with the reason, where they cannot be kept', async (_, change) => {
    await using dir = await openDir();
    attributes!.set(Buffer.from(dir.path('ws/a.txt')), NOTE, Buffer.from('kept'));
    const full = Object.assign(new Error('full'), { code: 'ENOSPC', errno: -28 });
    const setting = vi.spyOn(attributes!, 'set').mockImplementation(() => {
      throw full;
    });
    const reply = await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws')).then(textOf, String);
    setting.mockRestore();
    expect(reply).toContain('has an access list or attributes that cannot be kept (ENOSPC)');
    expect(readFileSync(dir.path('ws/a.txt'), 'utf8')).toBe('old\n');
  });
});

test.runIf(isRoot).each(changes)(
  '%s where access lists cannot be read gives the group no more than all',
  async (_, change) => {
    await using dir = await openDir();
    chmodSync(dir.path('ws/a.txt'), 0o664);
    const listing =
      attributes &&
      vi.spyOn(attributes, 'list').mockImplementation(() => {
        throw Object.assign(new Error('no such call'), { code: 'ENOSYS', errno: -38 });
      });
    await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws'));
    listing?.mockRestore();
    expect(statSync(dir.path('ws/a.txt')).mode & 0o777).toBe(0o644);
  },
);

test.each(changes)('%s says how many hard links keep the old content', async (_, change) => {
  await using dir = await openDir();
  linkSync(dir.path('ws/a.txt'), dir.path('ws/b.txt'));
  linkSync(dir.path('ws/a.txt'), dir.path('c.txt'));
  const reply = await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws'));
  expect(textOf(reply)).toContain('"note":"2 other hard links keep the old content"');
  expect(readFileSync(dir.path('ws/b.txt'), 'utf8')).toBe('old\n');
  expect(textOf(await change(configFor(dir.path('ws')), 'a.txt', dir.path('ws')).catch(String))).not.toContain(
    'hard link',
  );
});
