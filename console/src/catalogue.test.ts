import { expect, test } from 'vitest';

import { groupEntries, toEntry } from './catalogue.ts';

const row = (id: string, worker: string, more: object = {}) =>
  toEntry({ function_id: id, namespace: 'default', worker_name: worker, description: null, ...more });

test('a row of a foreign worker, whatever its metadata holds', () => {
  expect(
    row('py::run', 'py', { namespace: 'lab', metadata: { effect: 'magic', errors: 'none', examples: 3 } }),
  ).toEqual({
    id: 'py::run',
    key: 'lab/py::run',
    namespace: 'lab',
    worker: 'py',
    summary: '',
    errors: [],
    examples: [],
    isInternal: false,
    takesChange: false,
  });
});

test('errors of a worker are shown if they have a code, and a schema is an object', () => {
  const errors = [null, 'C1', { code: 7 }, { code: 'C2', meaning: { a: 1 } }, { code: 'C3', meaning: 'No.' }];
  const entry = row('py::run', 'py', {
    metadata: { errors },
    request_format: 'any',
    response_format: { type: 'null' },
  });
  expect(entry.errors).toEqual([{ code: 'C2' }, { code: 'C3', meaning: 'No.' }]);
  expect([entry.request, entry.response]).toEqual([undefined, { type: 'null' }]);
});

test('functions are grouped by worker, the engine last, and every word has to be there', () => {
  const entries = [
    row('engine::functions::list', 'engine'),
    row('shell::exec', 'shell', { description: 'Run a program.' }),
    row('coder::tree', 'coder'),
    row('coder::search', 'coder', { description: 'Run a search.' }),
  ];
  const shown = (search: string) =>
    groupEntries(entries, search).map((group) => [group.worker, group.entries.map(({ id }) => id)]);
  expect(shown('')).toEqual([
    ['coder', ['coder::search', 'coder::tree']],
    ['shell', ['shell::exec']],
    ['engine', ['engine::functions::list']],
  ]);
  expect(shown('RUN coder')).toEqual([['coder', ['coder::search']]]);
  expect(shown('nothing')).toEqual([]);
});
