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

test.each([undefined, '', '  '])('an empty search (%j) returns all rows unchanged', (search) => {
  expect(rankBySearch(rows, search, (row) => row)).toBe(rows);
});

test('ranks an equal id first, then its prefix, its parts and the description', () => {
  expect(ids('read')).toEqual(['read', 'reader', 'read-file', 'fs::read-all', 'tree']);
  expect(ids(' READ ')).toEqual(ids('read'));
});

test('returns nothing for a text that does not occur', () => {
  expect(ids('delete')).toEqual([]);
});
