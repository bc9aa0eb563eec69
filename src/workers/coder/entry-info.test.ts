import { renameSync } from 'node:fs';

import { expect, test } from 'vitest';

import { openJail, type ByteString } from '#host';
import { tempDir } from '#testing';
import { entryInfo, mtimeSecs } from './entry-info.ts';

test('an entry that is gone since it was listed is left out', async () => {
  await using dir = await tempDir({ a: '' });
  using folder = openJail(dir.root).openDir('.');
  expect(entryInfo(folder, 'a' as ByteString)).toMatchObject({ kind: 'file', size: 0 });
  expect(entryInfo(folder, 'gone' as ByteString)).toBeUndefined();
});

test('an entry without a stat is of kind other', async () => {
  await using dir = await tempDir({ 'folder/a': '' });
  using folder = openJail(dir.root, { mode: 'portable' }).openDir('folder');
  renameSync(dir.path('folder'), dir.path('moved'));
  dir.add({ 'folder/a': '' });
  expect(entryInfo(folder, 'a' as ByteString)).toEqual({ kind: 'other', size: 0, mtime: 0 });
});

test('nothing changed before 1970', () => {
  expect([-1500, 0, 1999].map((mtimeMs) => mtimeSecs({ mtimeMs }))).toEqual([0, 0, 1]);
});
