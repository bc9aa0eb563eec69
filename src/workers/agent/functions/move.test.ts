import { existsSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

test('agent.C12 renames, moves into a folder and deletes, all or none, and replaces nothing', async () => {
  await using cell = await agentCell({ 'a.txt': 'a', 'b.txt': 'b', 'dir/c.txt': 'c', 'gone/x': '' });
  const moves = [{ from: 'a.txt', to: 'dir' }, { from: cell.dir.path('b.txt'), to: 'z/b2.txt' }, { from: 'gone' }];
  expect(await cell.text('move', { moves })).toBe('change 1\na.txt → dir/a.txt\nb.txt → z/b2.txt\ngone deleted');
  expect(readFileSync(cell.dir.path('z/b2.txt'), 'utf8')).toBe('b');
  const taken = await cell.text('move', { moves: [{ from: 'z/b2.txt' }, { from: 'dir/a.txt', to: 'dir/c.txt' }] });
  expect(taken).toBe('A210: dir/c.txt already exists; delete it first, or choose another name');
  expect(existsSync(cell.dir.path('z/b2.txt'))).toBe(true);
  expect(await cell.text('undo')).toBe('undone: change 1 (dir/a.txt, z/b2.txt, gone)');
  expect(readFileSync(cell.dir.path('a.txt'), 'utf8')).toBe('a');
  expect(existsSync(cell.dir.path('gone/x'))).toBe(true);
});
