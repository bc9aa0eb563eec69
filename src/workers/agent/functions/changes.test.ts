import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

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
