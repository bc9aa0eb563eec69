/** change::commit after one that was rolled back: it finds its base again, although the restored files are newer. */
import { execFileSync } from 'node:child_process';
import { lstatSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { changeCell, modesAndContents as treeOf, type ChangeCell } from '#testing';

/** Begins a change of four files whose commit is rolled back; returns its name. */
async function rolledBack(cell: ChangeCell): Promise<string> {
  writeFileSync(cell.dir.path('mounted'), 'z\n');
  // A file with a mount on it cannot be replaced, and the mount does not change its ctime.
  execFileSync('mount', ['--bind', cell.dir.path('mounted'), cell.at('z.txt')]);
  try {
    const before = treeOf(cell.workspace);
    const change = await cell.begin();
    await cell.sh(change, 'echo mine > a.txt; rm gone.txt; ln -sf z.txt l.txt; echo mine > z.txt');
    const { ctimeMs } = lstatSync(cell.at('a.txt'));
    expect(await cell.failure('change::commit', { change })).toMatchObject({ code: 'W216' });
    expect(treeOf(cell.workspace)).toEqual(before);
    expect(lstatSync(cell.at('a.txt')).ctimeMs).not.toBe(ctimeMs);
    return change;
  } finally {
    // Lazily: a descriptor of it is closed after the reply.
    execFileSync('umount', ['-l', cell.at('z.txt')]);
  }
}

const FILES = { 'a.txt': 'a\n', 'gone.txt': '', 'l.txt': { symlink: 'a.txt' }, 'z.txt': 'z\n' };

const conflictsOf = async (cell: ChangeCell, change: string) =>
  (await cell.call<{ conflicts: { path: string }[] }>('change::diff', { change })).conflicts.map(({ path }) => path);

test.skipIf(process.geteuid?.() !== 0)('a commit that was rolled back is made again (mount needs root)', async () => {
  await using cell = await changeCell(FILES);
  const change = await rolledBack(cell);
  expect(await conflictsOf(cell, change)).toEqual([]);
  expect(await cell.call('change::commit', { change })).toMatchObject({ closed: true, files: { length: 4 } });
});

test.skipIf(process.geteuid?.() !== 0)(
  'a file that another program changed after the roll back is a conflict (mount needs root)',
  async () => {
    await using cell = await changeCell(FILES);
    const change = await rolledBack(cell);
    execFileSync('sed', ['-i', 's/a/b/', cell.at('a.txt')]);
    expect(await conflictsOf(cell, change)).toEqual(['a.txt']);
    expect(await cell.failure('change::commit', { change })).toMatchObject({ code: 'W213' });
  },
);
