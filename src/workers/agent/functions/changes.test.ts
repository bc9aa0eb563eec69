import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b'];

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
  const git = (...args: string[]) => execFileSync('git', [...AS, ...args], { cwd: cell.dir.root });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'all');
  cell.dir.add({ 'a.txt': 'two\n', '.env': 'KEY=new\n' });
  rmSync(cell.dir.path('sub/x.pem'));
  expect(await cell.text('changes')).toBe('no changes in this session\ngit:\n## main\n M a.txt');
  const diff = await cell.text('changes', { diff: true });
  expect(diff).toContain('-one\n+two');
  for (const hidden of ['.env', 'KEY', 'x.pem', 'old key']) expect(diff).not.toContain(hidden);
});
