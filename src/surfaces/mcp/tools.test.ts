import { expect, test } from 'vitest';

import type { CatalogueEntry } from '#contract';
import { toTools, type NamesTaken } from './tools.ts';

const entry = (id: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  id,
  namespace: 'default',
  worker: 'w',
  summary: 'Does something.',
  errors: [],
  examples: [],
  ...more,
});
const idsByName = (tools: ReturnType<typeof toTools>) =>
  Object.fromEntries([...tools].map(([name, tool]) => [name, tool.entry.id]));

test('a name is the id with underscores, and two ids that share it get different names', () => {
  const tools = toTools([entry('a-b'), entry('a::b'), entry('a::c-d')]);
  expect(idsByName(tools)).toEqual({ a_b: 'a-b', a_b_2: 'a::b', a_c_d: 'a::c-d' });
});

test('mcp.P3 no function takes the name of an existing tool', () => {
  const names: NamesTaken = new Map();
  toTools([entry('files::read')], {}, names);
  const later = toTools([entry('files-read'), entry('files::read')], {}, names);
  expect(idsByName(later)).toEqual({ files_read: 'files::read', files_read_2: 'files-read' });
  expect(idsByName(toTools([entry('files-read')], {}, names))).toEqual({ files_read_2: 'files-read' });
});

test('a long id keeps its number within 64 characters', () => {
  const tools = toTools([entry(`x::${'a'.repeat(80)}`), entry(`x::${'a'.repeat(81)}`)]);
  expect([...tools.keys()].map((name) => name.length)).toEqual([64, 64]);
});

test.each([
  ['by worker', { only: ['a'] }, ['a_read', 'a_write']],
  ['by id', { only: ['a::write'] }, ['a_write']],
  ['by name', { only: ['b_run'] }, ['b_run']],
  ['that change nothing', { isReadOnly: true }, ['a_read']],
  ['of another namespace', { namespace: 'other' }, ['c_read']],
])('offers only those %s', (_, profile, names) => {
  const catalogue = [
    entry('a::read', { effect: 'read' }),
    entry('a::write', { effect: 'write' }),
    entry('b::run'),
    entry('c::read', { namespace: 'other' }),
  ];
  expect([...toTools(catalogue, profile).keys()]).toEqual(names);
});
