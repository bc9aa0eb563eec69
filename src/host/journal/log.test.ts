import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { JournalLog } from './log.ts';

const { renameSync } = fs;

test('a line that another process appends while the log is shortened is kept', async () => {
  await using dir = await tempDir();
  const [ours, theirs, reader] = [0, 1, 2].map(() => new JournalLog(dir.path('log'))) as [
    JournalLog,
    JournalLog,
    JournalLog,
  ];
  const line = (seq: number) => ({ seq, part: 0, at: 0, changes: [] });
  ours.append(line(1));
  ours.readNew();
  theirs.append(line(2));
  // Between the rename and the copy of the records that came since the log was read.
  fs.renameSync = (...names) => {
    renameSync(...names);
    theirs.close();
    theirs.append(line(3));
  };
  syncBuiltinESMExports();
  try {
    ours.shrink([line(1)]);
  } finally {
    fs.renameSync = renameSync;
    syncBuiltinESMExports();
  }
  expect(reader.readNew().lines.map(({ line }) => 'seq' in line && line.seq)).toEqual([1, 3, 2]);
  for (const log of [ours, theirs, reader]) log.close();
});
