import { readFileSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { agentCell, type AgentCell } from '#testing';

const content = (cell: AgentCell, path: string) => readFileSync(cell.dir.path(path), 'utf8');
const change = (cell: AgentCell, path: string, old: string, now: string) =>
  cell.text('edit', { edits: [{ path, old, new: now }] });

test('agent.C13 the last change, or all back to one; what was there before stays byte for byte', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n', 'b.txt': 'uncommitted work\n' });
  await change(cell, 'a.txt', 'one', 'two');
  await change(cell, 'b.txt', 'work', 'WORK');
  await cell.text('write', { files: [{ path: 'c.txt', content: 'new' }] });
  expect(await cell.text('changes')).toMatch(/^change 1: edit a\.txt\nchange 2: edit b\.txt\nchange 3: write c\.txt/);
  expect(await cell.text('undo')).toBe('undone: change 3 (c.txt)');
  expect(await cell.text('undo', { change: 1 })).toBe('undone: change 2 (b.txt)\nundone: change 1 (a.txt)');
  expect([content(cell, 'a.txt'), content(cell, 'b.txt')]).toEqual(['one\n', 'uncommitted work\n']);
  expect(await cell.text('undo')).toBe('A224: this session has no change to undo');
  expect(await cell.text('undo', { change: 1 })).toBe('A224: change 1 is undone already');
  expect(await cell.text('undo', { change: 9 })).toBe(
    'A224: there is no change 9 in this session; the last is change 3',
  );
});

test('agent.C13 a file that something else changed since is not overwritten', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  await change(cell, 'a.txt', 'one', 'two');
  await change(cell, 'b.txt', 'one', 'two');
  writeFileSync(cell.dir.path('a.txt'), 'by another program\n');
  expect(await cell.text('undo', { change: 1 })).toMatch(/^A223: nothing was undone: a\.txt was changed since/);
  expect([content(cell, 'a.txt'), content(cell, 'b.txt')]).toEqual(['by another program\n', 'two\n']);
});

test('agent.C14 changes of another session have no number here, and cannot be undone', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n' });
  await change(cell, 'a.txt', 'one', 'two');
  expect(await cell.text('changes', {}, { name: 'two' })).toMatch(/^no changes in this session/);
  expect(await cell.text('undo', {}, { name: 'two' })).toBe('A224: this session has no change to undo');
  expect(await cell.text('undo', { change: 1 }, { name: 'two' })).toMatch(/^A224: there is no change 1/);
  expect(content(cell, 'a.txt')).toBe('two\n');
});
