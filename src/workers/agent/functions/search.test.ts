import { expect, test } from 'vitest';

import { agentCell } from '#testing';

const FILES = {
  '.gitignore': 'dist\n',
  '.git/config': 'needle\n',
  'dist/a.js': 'needle\n',
  'src/a.ts': 'one\nneedle two\nthree\nneedle\n',
  'src/b.md': 'Needle\n',
};

test('agent.C4 lines below their path, without .git and what is ignored', async () => {
  await using cell = await agentCell(FILES);
  expect(await cell.text('search', { pattern: 'needle' })).toBe('src/a.ts\n2: needle two\n4: needle');
  expect(await cell.text('search', { pattern: 'needle', context: 1 })).toBe(
    'src/a.ts\n1- one\n2: needle two\n3- three\n4: needle',
  );
  expect(await cell.text('search', { pattern: 'NEEDLE', ignore_case: true, files_only: true })).toBe(
    'src/a.ts 2\nsrc/b.md 1',
  );
  expect(await cell.text('search', { pattern: 'n..dle$', glob: '*.ts', path: 'src' })).toBe('src/a.ts\n4: needle');
  expect(await cell.text('search', { pattern: 'n..dle', literal: true })).toBe('nothing in 3 files');
  expect(await cell.text('search', { pattern: 'needle', path: 'dist/a.js' })).toBe('dist/a.js\n1: needle');
});

test('agent.C4 more than the limit is said, and a bad regex is explained', async () => {
  await using cell = await agentCell({ 'a.txt': 'x\n'.repeat(500) });
  const text = await cell.text('search', { pattern: 'x', limit: 3 });
  expect(text).toBe('a.txt\n1: x\n2: x\n3: x\n… there are more: narrow by path or glob, or use files_only');
  expect(await cell.text('search', { pattern: '(' })).toMatch(/^A210/);
  expect(await cell.text('search', { pattern: 'x', path: 'nope' })).toMatch(/^A211/);
});
