/** The disk to swap to, as the tools of the system see it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { makeScratchDisk } from './scratch-disk.ts';

test('it has the size that was asked for, beside its first MiB, and takes a page of the host', async () => {
  await using dir = await tempDir();
  makeScratchDisk(dir.path('disk'), { diskMb: 1024 });
  const { size, blocks, mode } = statSync(dir.path('disk'));
  expect([size, mode & 0o777]).toEqual([1025 * 2 ** 20, 0o600]);
  expect(blocks * 512).toBeLessThanOrEqual(65_536);
});

test.skipIf(spawnSync('blkid', ['-V']).error)('other programs know what it is', async () => {
  await using dir = await tempDir();
  makeScratchDisk(dir.path('disk'), { diskMb: 16 });
  const facts = execFileSync('blkid', ['-p', '-o', 'export', dir.path('disk')]).toString();
  expect(facts).toContain('TYPE=swap');
});
