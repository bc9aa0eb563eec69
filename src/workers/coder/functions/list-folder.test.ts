import { utimesSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { jailModes, run, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { openCoder } from '../worker.ts';
import { listFolder } from './list-folder.ts';

describe.each(jailModes())('%s jail', (_, way) => {
  const list = (base_path: string, payload: object = {}, config: object = {}) =>
    run(
      listFolder,
      payload,
      { base_path, ...config },
      { open: (parsed, log) => openCoder(parsed as CoderConfig, log, undefined, way) },
    );

  test('coder.C97 every kind of entry, links not followed', async () => {
    await using dir = await tempDir({
      'd/': '',
      f: 'four',
      link: { symlink: 'd' },
      out: { symlink: '/etc' },
      pipe: { fifo: true },
      '.env': '',
    });
    const { entries, ...rest } = await list(dir.root);
    expect(entries.map(({ name, kind, non_accessible }) => [name, kind, non_accessible])).toEqual([
      ['.env', 'file', true],
      ['d', 'dir', false],
      ['f', 'file', false],
      ['link', 'symlink', false],
      ['out', 'symlink', false],
      ['pipe', 'other', false],
    ]);
    expect(rest).toEqual({ path: '.', total: 6, page: 1, page_size: 100, has_more: false });
  });

  test('coder.C98 a protected folder is listed, its content flagged and itself not', async () => {
    await using dir = await tempDir({ 'secrets/k': 'four', 'alias/': '', 'via/link': { symlink: '../secrets' } });
    utimesSync(dir.path('secrets/k'), 0, 1_700_000_000.9);
    const k = { name: 'k', kind: 'file', size: 4, mtime: 1_700_000_000, non_accessible: true };
    expect(await list(dir.root, { path: 'secrets' })).toMatchObject({ path: 'secrets', entries: [k] });
    expect(await list(dir.root, { path: 'via/link' })).toMatchObject({ path: 'via/link', entries: [k] });

    const { entries } = await list(dir.root);
    expect(entries.find(({ name }) => name === 'secrets')).toMatchObject({ kind: 'dir', non_accessible: false });
  });
});

const list = (base_path: string, payload: object = {}, config: object = {}) =>
  run(listFolder, payload, { base_path, ...config });
const names = ({ entries }: { entries: { name: string }[] }) => entries.map(({ name }) => name);

describe('pages', () => {
  const seven = Object.fromEntries('abcdefg'.split('').map((name) => [name, '']));

  test('coder.C94 the last page has what is left', async () => {
    await using dir = await tempDir(seven);
    const first = await list(dir.root, { page_size: 5 });
    const second = await list(dir.root, { page_size: 5, page: 2 });
    expect([names(first), first.has_more]).toEqual([['a', 'b', 'c', 'd', 'e'], true]);
    expect([names(second), second.has_more, second.total]).toEqual([['f', 'g'], false, 7]);
  });

  test('a page past the end is empty', async () => {
    await using dir = await tempDir(seven);
    const page = await list(dir.root, { page: 4_000_000_000, page_size: 1000 });
    expect(page).toMatchObject({ entries: [], total: 7, page: 4_000_000_000, has_more: false });
  });

  test.each([
    ['coder.C95 zero', { page: 0, page_size: 0 }, { page: 1, page_size: 1 }],
    ['nothing asked', {}, { page: 1, page_size: 3 }],
    ['null', { page_size: null }, { page: 1, page_size: 3 }],
    ['too much', { page_size: 99 }, { page: 1, page_size: 4 }],
  ])('%s is applied and echoed within the limits', async (_, payload, applied) => {
    await using dir = await tempDir(seven);
    const page = await list(dir.root, payload, { list_default_page_size: 3, list_max_page_size: 4 });
    expect(page).toMatchObject(applied);
    expect(page.entries).toHaveLength(applied.page_size);
  });

  test('a folder that ends exactly on a page has no more', async () => {
    await using dir = await tempDir({ a: '', b: '' });
    expect(await list(dir.root, { page_size: 2 })).toMatchObject({ has_more: false });
  });
});

test('names are sorted by their bytes, not as UTF-16, and hidden ones are there', async () => {
  await using dir = await tempDir({ b: '', A: '', '.h': '', '～': '', '😀': '', é: '', a: '' });
  expect(names(await list(dir.root))).toEqual(['.h', 'A', 'a', 'b', 'é', '～', '😀']);
});

test('a name that is not UTF-8 is listed as well as text can', async () => {
  await using dir = await tempDir();
  writeFileSync(Buffer.concat([Buffer.from(`${dir.root}/`), Buffer.from([0x61, 0xff])]), 'four');
  expect((await list(dir.root)).entries).toMatchObject([{ name: 'a\uFFFD', kind: 'file', size: 4 }]);
});

test('coder.P5 pages of a folder of several batches follow each other without gap or repeat', async () => {
  const all = Array.from({ length: 4200 }, (_, i) => `f${(i * 7919) % 4200}`);
  await using dir = await tempDir(Object.fromEntries(all.map((name) => [name, ''])));
  const pages = [];
  for (const page of [1, 2, 3]) {
    pages.push(await list(dir.root, { page, page_size: 2000 }, { list_max_page_size: 2000 }));
  }
  expect(pages.flatMap(names)).toEqual(all.toSorted());
  expect(pages.map(({ total, has_more }) => ({ total, has_more }))).toEqual([
    { total: 4200, has_more: true },
    { total: 4200, has_more: true },
    { total: 4200, has_more: false },
  ]);
});
