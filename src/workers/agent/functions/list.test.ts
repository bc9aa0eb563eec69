import { expect, test } from 'vitest';

import { agentCell, type AgentCell } from '#testing';

const many = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${folder}/f${i}.txt`, '']));

test('agent.C5 a tree folded by depth and by count, or the paths of a glob', async () => {
  await using cell: AgentCell = await agentCell({
    '.gitignore': 'node_modules\n',
    'node_modules/x/y.js': '',
    'README.md': '',
    'src/a.ts': '',
    'src/deep/er/b.ts': '',
    'my file.txt': '',
    ...many('big', 60),
  });
  const text = await cell.text('list');
  expect(text.split('\n')).toEqual([
    'big/',
    ' f0.txt f1.txt f10.txt f11.txt f12.txt f13.txt f14.txt f15.txt (60 files)',
    'src/',
    ' deep/ (1)',
    ' a.ts',
    '.gitignore README.md "my file.txt"',
  ]);
  expect(await cell.text('list', { path: 'src', depth: 3 })).toBe('deep/\n er/\n  b.ts\na.ts');
  expect(await cell.text('list', { glob: '*.ts' })).toBe('src/a.ts\nsrc/deep/er/b.ts');
  expect(await cell.text('list', { glob: '*.nope' })).toBe('no files');
});

test('agent.C5 a large workspace is folded until it fits', async () => {
  const folders = Object.assign({}, ...Array.from({ length: 60 }, (_, i) => many(`folder-${i}/inner-${i}`, 30)));
  await using cell = await agentCell(folders, { reply_chars: 2000 });
  const text = await cell.text('list', { depth: 3 });
  expect(text.length).toBeLessThanOrEqual(2000);
  expect(text).toContain('\nfolder-7/\n inner-7/ (30)\n');
});
