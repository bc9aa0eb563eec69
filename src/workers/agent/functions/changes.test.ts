import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

import { afterEach, expect, test, vi } from 'vitest';

import { agentCell, tempDir, type TempDir } from '#testing';

const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b'];

/** Kills itself when it is asked for the names of changed files. */
const GIT_WITHOUT_NAMES = `#!/bin/sh
case "$*" in *--name-only*) kill -KILL $$ ;; esac
PATH="\${PATH#*:}"
exec git "$@"
`;

afterEach(() => void vi.unstubAllEnvs());

function commitAll({ root }: TempDir): void {
  const git = (...args: string[]) => execFileSync('git', [...AS, ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'all');
}

test('agent.C15 the changes of this session, and git if the caller may run it', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n' });
  await cell.text('edit', { edits: [{ path: 'a.txt', old: 'one', new: 'two' }] });
  expect(await cell.text('changes')).toBe('change 1: edit a.txt');
  expect(await cell.text('changes', { diff: true })).toBe('change 1: edit a.txt\nmodified a.txt\n@@ 1 @@\n-one\n+two');
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: cell.dir.root });
  expect(await cell.text('changes')).toBe('change 1: edit a.txt\ngit:\n## No commits yet on main\n?? a.txt');
  const reading = { name: 'one', grants: { isReadOnly: true } };
  expect(await cell.text('changes', {}, reading)).toBe('change 1: edit a.txt');
});

test('agent.C15 git shows nothing of protected files that it tracks', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n', '.env': 'KEY=old\n', 'sub/x.pem': 'old key\n' });
  commitAll(cell.dir);
  cell.dir.add({ 'a.txt': 'two\n', '.env': 'KEY=new\n' });
  rmSync(cell.dir.path('sub/x.pem'));
  expect(await cell.text('changes')).toBe('no changes in this session\ngit:\n## main\n M a.txt');
  const diff = await cell.text('changes', { diff: true });
  expect(diff).toContain('-one\n+two');
  for (const hidden of ['.env', 'KEY', 'x.pem', 'old key']) expect(diff).not.toContain(hidden);
});

test('agent.C15 git shows the whole workspace where the server was started in a subfolder, without protected files', async () => {
  const files = { 'a.txt': 'one\n', 'sub/b.txt': 'one\n', 'sub/private/c.txt': 'KEY=old\n' };
  await using cell = await agentCell(files, {}, { startedIn: 'sub', protect: ['sub/private/**'] });
  commitAll(cell.dir);
  cell.dir.add({ 'a.txt': 'two\n', 'sub/b.txt': 'two\n', 'sub/private/c.txt': 'KEY=new\n' });
  expect(await cell.text('changes')).toBe('no changes in this session\ngit:\n## main\n M a.txt\n M sub/b.txt');
  const diff = await cell.text('changes', { diff: true });
  expect(diff.match(/^\+\+\+ .*/gm)).toEqual(['+++ b/a.txt', '+++ b/sub/b.txt']);
  expect(diff).not.toContain('KEY');
});

test('agent.C15 git shows no diff if the protected files in it are not known, and the reply says why', async () => {
  await using programs = await tempDir({ git: { content: GIT_WITHOUT_NAMES, mode: 0o755 } });
  vi.stubEnv('PATH', `${programs.root}:${process.env.PATH}`);
  await using cell = await agentCell({ 'a.txt': 'one\n', '.env': 'KEY=old\n' });
  commitAll(cell.dir);
  cell.dir.add({ '.env': 'KEY=new\n' });
  await cell.text('edit', { edits: [{ path: 'a.txt', old: 'one', new: 'two' }] });
  const own = 'modified a.txt\n@@ 1 @@\n-one\n+two';
  expect(await cell.text('changes', { diff: true })).toBe(
    `change 1: edit a.txt\n(no git diff: git was killed; try again)\n${own}`,
  );
  const reading = { name: 'one', grants: { isReadOnly: true } };
  expect(await cell.text('changes', { diff: true }, reading)).toMatch(
    /^change 1: edit a\.txt\n\(no git diff: .+\)\nmodified a\.txt/,
  );
});
