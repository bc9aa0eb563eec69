import { readFileSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { agentCell, type AgentCell } from '#testing';

const content = (cell: AgentCell, path: string) => readFileSync(cell.dir.path(path), 'utf8');
const edit = (path: string, old: string, now: string, more: object = {}) => ({ path, old, new: now, ...more });

test('agent.C6 text that is there once is replaced; the reply says where, not what', async () => {
  await using cell = await agentCell({ 'a.ts': 'one\ntwo\nthree\n' });
  expect(await cell.text('edit', { edits: [edit('a.ts', 'two\n', 'TWO\n2\n')] })).toBe('change 1\na.ts +2 -1 at 2');
  expect(content(cell, 'a.ts')).toBe('one\nTWO\n2\nthree\n');
});

test('agent.C7 a miss, a text that is there twice, or one bad file of five: nothing is changed', async () => {
  const files = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}.ts`, 'x = 1;\nlet total = sum(x);\nx = 1;\n']),
  );
  await using cell = await agentCell(files);
  expect(await cell.text('edit', { edits: [edit('a.ts', 'let totla = sum(x);', 'y')] })).toBe(
    'A220: nothing was changed\na.ts: the text is not there. Nearest:\n2\tlet total = sum(x);',
  );
  expect(await cell.text('edit', { edits: [edit('a.ts', 'x = 1;', 'y')] })).toBe(
    'A220: nothing was changed\na.ts: the text is there 2 times, at lines 1, 3; send more of the text around it, or all: true',
  );
  const edits = Object.keys(files).map((path) => edit(path, path === 'd.ts' ? 'nothing like it' : 'sum(x)', 'SUM'));
  const text = await cell.text('edit', { edits });
  expect(text).toContain('A220: nothing was changed\nedit 4: d.ts: the text is not there');
  for (const path of Object.keys(files)) expect(content(cell, path)).toBe(files[path]);
  expect(await cell.text('changes')).toMatch(/^no changes in this session/);
});

test('agent.C7 line numbers in old, an empty old and a missing file say what to do', async () => {
  await using cell = await agentCell({ 'a.ts': 'one\ntwo\n' });
  expect(await cell.text('edit', { edits: [edit('a.ts', '1\tone\n2\ttwo', 'x')] })).toContain('leave the numbers');
  expect(await cell.text('edit', { edits: [edit('a.ts', '', 'x')] })).toContain('use write for a new file');
  expect(await cell.text('edit', { edits: [edit('b.ts', 'one', 'x')] })).toContain('b.ts does not exist');
  expect(await cell.text('edit', {})).toContain('either `edits` or `patch`');
  expect(content(cell, 'a.ts')).toBe('one\ntwo\n');
});

test('agent.C8 a glob with all changes every file that has the text, except what is excepted', async () => {
  await using cell = await agentCell({
    '.gitignore': 'dist\n',
    'dist/a.ts': 'old old\n',
    'src/a.ts': 'old old\n',
    'src/b.ts': 'old\n',
    'CHANGELOG.md': 'old\n',
    'docs/x.md': 'old\n',
    'z.txt': 'none\n',
  });
  expect(await cell.text('edit', { edits: [edit('**/*', 'old', 'new')] })).toContain('is a glob: send all: true');
  const edits = [edit('**/*', 'old', 'new', { all: true, except: 'CHANGELOG.md, *.txt' })];
  expect(await cell.text('edit', { edits })).toBe(
    'change 1\ndocs/x.md +1 -1 at 1\nsrc/a.ts 2× +1 -1 at 1 …\nsrc/b.ts +1 -1 at 1',
  );
  expect(content(cell, 'CHANGELOG.md') + content(cell, 'dist/a.ts')).toBe('old\nold old\n');
  expect(await cell.text('edit', { edits: [edit('*.rs', 'old', 'x', { all: true })] })).toContain(
    'no file that matches',
  );
});

test('agent.C8 edits of one call see each other, and line endings stay', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\r\ntwo\r\n' });
  const edits = [edit('a.txt', 'one\ntwo', 'three\nfour'), edit('./a.txt', 'four', 'five')];
  expect(await cell.text('edit', { edits })).toBe('change 1\na.txt 2× +2 -2 at 1 …');
  expect(content(cell, 'a.txt')).toBe('three\r\nfive\r\n');
});

test('agent.C9 a patch with relative or absolute paths, whose misfit names the nearest lines', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\ntwo\n' });
  const patch = (old: string) =>
    `*** Begin Patch\n*** Update File: ${cell.dir.path('a.txt')}\n@@\n-${old}\n+2\n*** Add File: n/b.txt\n+x\n*** End Patch\n`;
  expect(await cell.text('edit', { patch: patch('tow') })).toMatch(/^C222[\s\S]*two/);
  expect(content(cell, 'a.txt')).toBe('one\ntwo\n');
  expect(await cell.text('edit', { patch: patch('two') })).toBe('change 1\na.txt +1 -1 at 2\nn/b.txt added +1 -0');
  expect(content(cell, 'a.txt')).toBe('one\n2\n');
});

test('agent.C10 an edit says that something else changed the file; a write over it is refused', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\ntwo\n' });
  await cell.text('read', { paths: ['a.txt'] });
  writeFileSync(cell.dir.path('a.txt'), 'ONE\ntwo\n');
  expect(await cell.text('write', { files: [{ path: 'a.txt', content: 'x' }] })).toMatch(/^A221: a\.txt was changed/);
  expect(content(cell, 'a.txt')).toBe('ONE\ntwo\n');
  expect(await cell.text('edit', { edits: [edit('a.txt', 'two', '2')] })).toBe(
    'change 1\na.txt +1 -1 at 2 (changed by something else since you read it)',
  );
  expect(await cell.text('write', { files: [{ path: 'a.txt', content: 'x\n' }] })).toBe(
    'change 2\na.txt replaced, 1 lines',
  );
});
