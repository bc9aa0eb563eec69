/** change::commit and the repositories in the workspace. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

import { changeCell, modesAndContents as treeOf, type ChangeCell } from '#testing';

interface Commit {
  seq?: number;
  left_out: { path: string; why: string }[];
}

const commit = (cell: ChangeCell, change: string, more: object = {}) =>
  cell.call<Commit>('change::commit', { change, ...more });

const GIT = 'git -c user.email=a@example.com -c user.name=a';

test('change.A13 a repository is left as it is, or gets objects and references, never hooks', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', cell.workspace, ...words], { encoding: 'utf8' }).trim();
  execFileSync('sh', [
    '-c',
    `cd ${cell.workspace} && git init -q -b main . && ${GIT} add . && ${GIT} commit -qm first`,
  ]);
  const first = git('rev-parse', 'main');
  const work = `echo b > b.txt; ${GIT} add .; ${GIT} commit -qm second; git config alias.x '!echo'; echo 'echo hi' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`;

  const one = await cell.begin();
  await cell.sh(one, work);
  const second = (await cell.sh(one, 'git rev-parse main')).trim();
  const diff = await cell.call<{ git: object[]; files: { path: string }[] }>('change::diff', { change: one });
  expect(diff.files.map(({ path }) => path)).toEqual(['b.txt']);
  expect(diff.git).toMatchObject([
    {
      repo: '',
      objects: 3,
      refs: [{ name: 'refs/heads/main', from: first, to: second }],
      index: true,
      config_changed: true,
      hooks_changed: true,
    },
  ]);
  const before = treeOf(cell.at('.git'));
  expect((await commit(cell, one)).left_out).toEqual([{ path: '.git', why: 'git' }]);
  expect(treeOf(cell.at('.git'))).toEqual(before);

  const two = await cell.begin();
  await cell.sh(two, work);
  const reply = await commit(cell, two, { git: true });
  expect(reply.left_out).toEqual([
    { path: '.git/config', why: 'git' },
    { path: '.git/hooks', why: 'git' },
  ]);
  expect(git('log', '--format=%s')).toBe('second\nfirst');
  expect(git('--no-optional-locks', 'status', '--porcelain')).toBe('');
  expect(git('fsck', '--strict')).toBe('');
  expect(existsSync(cell.at('.git/hooks/post-commit'))).toBe(false);
  expect(git('config', '--list')).not.toContain('alias.x');
  await cell.call('coder::undo', { seq: reply.seq });
  expect(git('rev-parse', 'main')).toBe(first);
});

test('change.A14 a reference that moved underneath is a conflict', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const sh = (script: string) =>
    execFileSync('sh', ['-c', `cd ${cell.workspace} && ${script}`], { encoding: 'utf8' }).trim();
  sh(`git init -q -b main . && ${GIT} add . && ${GIT} commit -qm first`);
  const change = await cell.begin();
  await cell.sh(change, `echo b > b.txt; ${GIT} add b.txt; ${GIT} commit -qm second`);
  sh(`echo c > c.txt && ${GIT} add c.txt && ${GIT} commit -qm other`);
  const before = treeOf(cell.workspace);
  const failure = await cell.failure('change::commit', { change, git: true });
  expect(failure.code).toBe('W213');
  expect(failure.conflicts).toMatchObject([{ path: '.git/refs/heads/main', kind: 'both-changed', mergeable: false }]);
  expect(treeOf(cell.workspace)).toEqual(before);
  const { left_out } = await commit(cell, change, { git: true, on_conflict: 'theirs' });
  expect(left_out).toEqual([{ path: '.git/index', why: 'git' }]);
  expect(sh('git log --format=%s')).toBe('other\nfirst');
  expect(existsSync(cell.at('b.txt'))).toBe(true);
});

test('change.A14 a repository in a folder moves too, unless its references moved or were deleted underneath', async () => {
  await using cell = await changeCell({ 'lib/a.txt': 'a\n', 'lib/packages/deep/b.txt': 'b\n' });
  const repositories = ['lib', 'lib/packages/deep'];
  const sh = (at: string, script: string) =>
    execFileSync('sh', ['-c', `cd ${cell.at(at)} && ${script}`], { encoding: 'utf8' }).trim();
  for (const at of repositories) sh(at, `git init -q -b main . && ${GIT} add *.txt && ${GIT} commit -qm first`);
  for (const at of repositories) sh(at, 'git branch doomed');

  const change = await cell.begin('moves');
  for (const at of repositories) await cell.sh(change, `cd ${at} && ${GIT} commit -q --allow-empty -m second`);
  expect((await commit(cell, change, { git: true })).left_out).toEqual([]);
  for (const at of repositories) expect(sh(at, 'git log --format=%s && git fsck')).toBe('second\nfirst');

  for (const at of repositories) {
    const moved = await cell.begin();
    await cell.sh(moved, `cd ${at} && ${GIT} commit -q --allow-empty -m third`);
    sh(at, `${GIT} commit -q --allow-empty -m other`);
    expect(await cell.failure('change::commit', { change: moved, git: true })).toMatchObject({
      code: 'W213',
      conflicts: [{ path: `${at}/.git/refs/heads/main`, kind: 'both-changed' }],
    });
    await cell.call('change::discard', { change: moved });

    const deleted = await cell.begin();
    await cell.sh(deleted, `cd ${at} && git checkout -q doomed && ${GIT} commit -q --allow-empty -m onward`);
    sh(at, 'git branch -q -D doomed');
    const failure = await cell.failure('change::commit', { change: deleted, git: true });
    expect(failure.conflicts).toContainEqual(
      expect.objectContaining({ path: `${at}/.git/refs/heads/doomed`, kind: 'deleted-underneath' }),
    );
    expect(sh(at, 'git branch --list doomed')).toBe('');
  }
});
