import { expect, test } from 'vitest';

import {
  bySeqOf,
  callerOf,
  lineCounts,
  nextStep,
  oldestWithoutChanges,
  withChanges,
  type ChangeRecord,
} from './records.ts';

function record(seq: number, more: Partial<ChangeRecord> = {}): ChangeRecord {
  return { seq, ts: 0, files: ['a'], file_count: 1, skipped: 0, bytes: 10, ...more };
}

const changes = [{ path: 'a', kind: 'modified' as const, hunks: [] }];

test('a record that was undone, redone and undone again is redone by undoing the last undo', () => {
  const records = [record(4), record(3, { undone_by: 4 }), record(2, { undone_by: 3 }), record(1, { undone_by: 2 })];
  expect(records.map((one) => nextStep(one, bySeqOf(records)))).toEqual([
    { action: 'Undo', seq: 4 },
    { action: 'Redo', seq: 4 },
    { action: 'Undo', seq: 4 },
    { action: 'Redo', seq: 4 },
  ]);
});

test('diffs are kept for records that did not change since', () => {
  const known = [record(3, { changes }), record(2, { changes }), record(1, { changes })];
  const rows = [
    record(4),
    record(3, { file_count: 2 }),
    record(2, { bytes: 11 }),
    record(1, { bytes: 0, undone_by: 4 }),
  ];
  const merged = withChanges(rows, known);
  expect(merged.map((one) => one.changes)).toEqual([undefined, undefined, undefined, changes]);
  expect(oldestWithoutChanges(merged)).toBe(2);
  expect(oldestWithoutChanges(known)).toBeUndefined();
});

test('lines are counted over all hunks', () => {
  const hunk = (lines: string[]) => ({ before_line: 1, after_line: 1, lines });
  const hunks = [hunk([' a', '-b', '+c', '+d']), hunk(['-e'])];
  expect(lineCounts({ path: 'a', kind: 'modified', hunks })).toEqual({ added: 2, removed: 2 });
  expect(lineCounts({ path: 'a', kind: 'mode' })).toEqual({ added: 0, removed: 0 });
});

test('a caller is shown without the id of its connection', () => {
  expect(callerOf(record(1, { caller: 'worker:0b7f4a52-9d1c-4c57-8f0e-1d2c3b4a5968' }))).toBe('worker');
  expect(callerOf(record(1, { caller: 'token:ci' }))).toBe('token:ci');
  expect(callerOf(record(1))).toBe('an unnamed caller');
});
