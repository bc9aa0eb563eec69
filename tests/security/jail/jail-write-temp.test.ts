/** An attacker that guessed the name of a temporary file; here the random numbers are fixed. */
import { existsSync, linkSync, readdirSync, readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { JailChanges, openJail } from '#host';
import { tempDir } from '#testing/basics';

vi.mock(import('node:crypto'), async (original) => ({
  ...(await original()),
  randomUUID: () => '07070707-0707-4707-8707-070707070707' as const,
}));

const { signal } = new AbortController();

async function tempNameIn(root: string): Promise<string> {
  const { tempName } = await import('../../../src/host/changes/atomic-write-temp.ts');
  expect(tempName()).toBe(tempName());
  return `${root}/${tempName()}`;
}

test.each([
  ['a link to the outside', (dir: Planting, name: string) => dir.add({ [name]: { symlink: '../outside.txt' } })],
  ['a dangling link', (dir: Planting, name: string) => dir.add({ [name]: { symlink: '../new.txt' } })],
  ['a hard link', (dir: Planting, name: string) => linkSync(dir.path('outside.txt'), dir.path(name))],
  ['a directory', (dir: Planting, name: string) => dir.add({ [`${name}/`]: '' })],
])('coder.P7 %s planted there stops the write and is not followed', async (_, plant) => {
  await using dir = await tempDir({ 'ws/a.txt': 'old', 'outside.txt': 'SECRET' });
  plant(dir, await tempNameIn('ws'));
  const before = readdirSync(dir.path('ws'));

  const changes = new JailChanges(openJail(dir.path('ws')), { isSynced: false });
  const writing = changes.onTarget('a.txt', signal, (target) => changes.write(target, Buffer.from('new')));
  await expect(writing).rejects.toMatchObject({ reason: 'exists' });
  expect(readFileSync(dir.path('outside.txt'), 'utf8')).toBe('SECRET');
  expect(readFileSync(dir.path('ws/a.txt'), 'utf8')).toBe('old');
  expect(existsSync(dir.path('new.txt'))).toBe(false);
  expect(readdirSync(dir.path('ws'))).toEqual(before);
});

type Planting = Awaited<ReturnType<typeof tempDir>>;
