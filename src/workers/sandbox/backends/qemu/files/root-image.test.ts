/** An image as a disk, read back by the tool that comes with its maker. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, linkSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { ImageStore } from '#sandbox/images';
import { tempDir, type TempDir } from '#testing';
import { mkfsCommand, prepareRootImage, rootImageMark } from './root-image.ts';

const isRoot = process.geteuid?.() === 0;
const hasTools = !spawnSync('mkfs.erofs', ['--help']).error && !spawnSync('dump.erofs', ['--help']).error;

const signal = () => AbortSignal.timeout(60_000);

async function tree(): Promise<TempDir> {
  const dir = await tempDir({
    'root/etc/secret': { content: 'x', mode: 0o400 },
    'root/bin/tool': { content: 'one two', mode: 0o751 },
    'root/link': { symlink: 'bin/tool' },
  });
  linkSync(dir.path('root/bin/tool'), dir.path('root/bin/other'));
  utimesSync(dir.path('root/bin/tool'), 1_577_923_200, 1_577_923_200);
  return dir;
}

const image = (rootDir: string) => ({
  name: 'test',
  ref: 'test',
  digest: 'sha256:abc',
  directory: async () => rootDir,
  env: [],
});

/** The tool's data about a file: owner, mode, links, time. */
function factsOf(disk: string, path: string): string {
  const text = execFileSync('dump.erofs', [`--path=${path}`, disk], { env: { ...process.env, TZ: 'UTC' } }).toString();
  const found = (pattern: RegExp) => pattern.exec(text)?.[1]?.trim();
  return [/Uid: (\d+)/, /Gid: (\d+)/, /Access: (\d+)/, /Links: (\d+)/, /Timestamp: (\S+)/].map(found).join(' ');
}

test.skipIf(!hasTools)('owners, modes, links and times are in the disk', async () => {
  await using dir = await tree();
  if (isRoot) chownSync(dir.path('root/bin/tool'), 12, 34);
  const disk = await prepareRootImage(image(dir.path('root')), { cacheDir: dir.path('cache'), signal: signal() });
  expect(disk).toBe(dir.path('cache/erofs/sha256-abc.erofs'));
  const owner = isRoot ? '12 34' : '0 0';
  expect([factsOf(disk, '/bin/tool'), factsOf(disk, '/bin/other')]).toEqual(
    Array(2).fill(`${owner} 0751 2 2020-01-02`),
  );
  expect(factsOf(disk, '/etc/secret')).toMatch(/^0 0 0400 1 /);
});

test.skipIf(!hasTools || !isRoot)(
  "the files of an ordinary user are root's in the disk, also what he closed to himself",
  async () => {
    await using dir = await tree();
    const uid = 65_534;
    execFileSync('chown', ['-R', `${uid}:${uid}`, dir.root]);
    chmodSync(dir.path('root/etc/secret'), 0);
    const command = mkfsCommand(dir.path('disk'), dir.path('root'), { isRoot: false });
    execFileSync('setpriv', [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', ...command]);
    expect(statSync(dir.path('disk')).uid).toBe(uid);
    expect([factsOf(dir.path('disk'), '/etc/secret'), factsOf(dir.path('disk'), '/bin/tool')]).toEqual([
      expect.stringMatching(/^0 0 0000 1 /),
      '0 0 0751 2 2020-01-02',
    ]);
  },
);

test.skipIf(!hasTools)('a disk is made once, and one that cannot be made leaves nothing', async () => {
  await using dir = await tree();
  const options = { cacheDir: dir.path('cache'), signal: signal() };
  const disks = await Promise.all([1, 2, 3].map(() => prepareRootImage(image(dir.path('root')), options)));
  const { mtimeMs, ino } = statSync(disks[0]!);
  await prepareRootImage(image(dir.path('root')), options);
  expect(statSync(disks[0]!)).toMatchObject({ mtimeMs, ino });

  const missing = { ...image(dir.path('nothing')), digest: 'sha256:def' };
  await expect(prepareRootImage(missing, options)).rejects.toThrow(/mkfs\.erofs ended with 1/);
  expect(readdirSync(dir.path('cache/erofs'))).toEqual(['sha256-abc.erofs']);
});

test.skipIf(!hasTools)('the disk of an image is removed with the image, and the next one differs from it', async () => {
  await using dir = await tempDir();
  const store = new ImageStore(dir.root);
  const digest = 'sha256:abc';
  const make = async () => {
    await store.makeTree(digest, async (rootDir) => {
      writeFileSync(`${rootDir}/file`, 'x');
      return { bytes: 1, entries: 1, skipped: 0 };
    });
    const made = { ...image(store.rootDir(digest)), digest };
    return prepareRootImage(made, { cacheDir: dir.root, signal: signal() });
  };
  const disk = await make();
  const mark = rootImageMark(disk);
  expect(rootImageMark(disk)).toBe(mark);
  store.removeTree(digest);
  expect(existsSync(disk)).toBe(false);
  expect(rootImageMark(await make())).not.toBe(mark);
});
