import { expect, test } from 'vitest';

import { rankBySearch } from './search-rank.ts';

const rows = [
  { id: 'fs::read-all', description: 'Read everything.' },
  { id: 'read', description: 'The word itself.' },
  { id: 'tree', description: 'Show a thread of folders.' },
  { id: 'reader', description: '' },
  { id: 'write', description: 'Not this one.' },
  { id: 'read-file', description: 'Read a file.' },
];
const ids = (search: string | undefined) => rankBySearch(rows, search, (row) => row).map((row) => row.id);

test.each([undefined, '', '  '])('the search %j keeps everything as it is', (search) => {
  expect(rankBySearch(rows, search, (row) => row)).toBe(rows);
});

test('the id itself first, then its start, then anywhere in it, then the description, each in the order they came', () => {
  expect(ids('read')).toEqual(['read', 'reader', 'read-file', 'fs::read-all', 'tree']);
  expect(ids(' READ ')).toEqual(ids('read'));
});

test('what is nowhere is not found', () => {
  expect(ids('delete')).toEqual([]);
});
