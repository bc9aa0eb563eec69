import { expect, test } from 'vitest';

import type { Change } from '../../../src/protocol/change.ts';
import { filesOf } from './by-file.ts';
import type { ChangeRecord } from './records.ts';

const record = (seq: number, changes: Change[]): ChangeRecord => ({
  ...{ seq, ts: seq, files: changes.map(({ path }) => path), file_count: changes.length, skipped: 0, bytes: 1 },
  changes,
});
const modified = (path: string, lines: string[]): Change => ({
  ...{ path, kind: 'modified' },
  hunks: [{ before_line: 1, after_line: 1, lines }],
});

test('each file has its changes, newest first, with the kind of the newest and the sum of the lines', () => {
  const gone: Change = { ...modified('a.ts', ['-one', '-two']), kind: 'deleted' };
  const folder: Change = { path: 'src', kind: 'created', is_directory: true };
  const files = filesOf([
    record(3, [gone]),
    record(2, [modified('b.ts', ['+x'])]),
    record(1, [folder, modified('a.ts', ['+two', ' one'])]),
  ]);
  expect(
    files.map(({ path, kind, added, removed, records }) => [path, kind, added, removed, records.map(({ seq }) => seq)]),
  ).toEqual([
    ['a.ts', 'deleted', 1, 2, [3, 1]],
    ['b.ts', 'modified', 1, 0, [2]],
  ]);
  expect(files[0]?.records[1]?.changes.map(({ path }) => path)).toEqual(['a.ts']);
});
