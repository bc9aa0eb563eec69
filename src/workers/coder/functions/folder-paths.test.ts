import { describe, expect, test } from 'vitest';

import type { FunctionDef } from '#contract';
import { run, tempDir } from '#testing';
import { listFolder } from './list-folder.ts';
import { search } from './search.ts';
import { tree } from './tree.ts';

describe.each<[string, FunctionDef<unknown>, object]>([
  [listFolder.id, listFolder, {}],
  [tree.id, tree, {}],
  [search.id, search, { query: 'x' }],
])('%s refuses as a folder', (_, fn, request) => {
  test.each([
    ['a file', 'f', 'C210'],
    ['nothing', 'nope', 'C211'],
    ['an absolute path', '/', 'C210'],
    ['a path out', '..', 'C215'],
    ['a link out', 'out', 'C215'],
    ['a path below a file', 'f/x', 'C216'],
  ])('%s', async (__, path, code) => {
    await using dir = await tempDir({ f: '', out: { symlink: '/etc' } });
    await expect(run(fn, { ...request, path }, { base_path: dir.root })).rejects.toMatchObject({ code });
  });
});
