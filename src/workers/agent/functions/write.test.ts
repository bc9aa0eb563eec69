import { existsSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

test('agent.C11 files are made with their folders, or replaced; all or none', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n', 'dir/x': '' });
  const files = [
    { path: 'n/e/w.txt', content: 'one\ntwo' },
    { path: 'a.txt', content: '' },
  ];
  expect(await cell.text('write', { files })).toBe('change 1\nn/e/w.txt new, 2 lines\na.txt replaced, 0 lines');
  expect(readFileSync(cell.dir.path('n/e/w.txt'), 'utf8')).toBe('one\ntwo');
  const refused = await cell.text('write', {
    files: [
      { path: 'b.txt', content: '' },
      { path: 'dir', content: '' },
    ],
  });
  expect(refused).toMatch(/^A210: dir is not a regular file/);
  expect(existsSync(cell.dir.path('b.txt'))).toBe(false);
  expect(await cell.text('write', { files: [{ path: '../b.txt', content: '' }] })).toMatch(/^A215/);
  expect(await cell.text('write', { files: [{ path: '.env', content: '' }] })).toMatch(/^A211/);
  expect(await cell.text('write', { files: [{ path: 'a.txt', content: '' }] })).toBe('a.txt unchanged, 0 lines');
});
