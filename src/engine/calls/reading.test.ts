import { expect, test } from 'vitest';

import { EncodedObject } from '#protocol';
import { changedLines, Reading } from './reading.ts';

const command = Reading.of({
  reads: {
    line: ['command', 'args', 'files.path'],
    notes: [
      { field: 'timed_out', says: 'timed out' },
      { field: 'exit_code', says: 'exit {}' },
      { field: 'exit_code', is: null, says: 'killed' },
      { field: 'data.truncated', says: 'cut' },
    ],
  },
  errors: [
    { code: 'C215', http: 403 },
    { code: 'C211', http: 404 },
  ],
});

test('the summary line joins the declared fields, also those of items, and is bounded', () => {
  expect(command.line({ command: 'npm', args: ['run', 'x\n  y'], env: { A: 'b' } })).toBe('npm run x y');
  expect(command.line({ files: [{ path: 'a.ts', content: 'secret' }, { path: 'b.ts' }, 7] })).toBe('a.ts b.ts');
  const long = command.line({ command: `${'x'.repeat(500)}\u202e` });
  expect([long?.length, long?.endsWith(' …')]).toEqual([202, true]);
  expect([command.line({ args: [] }), command.line(null), Reading.of(undefined).line({ command: 'ls' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  [{ exit_code: 0 }, 'ok', 'ok'],
  [{ exit_code: 2 }, 'warning', 'exit 2'],
  [{ exit_code: null, timed_out: true }, 'warning', 'timed out'],
  [{ exit_code: null }, 'warning', 'killed'],
  [{ exit_code: 0, data: { truncated: true } }, 'warning', 'cut'],
  [new EncodedObject({ exit_code: 3, out: '' }, 'out', { decode: () => '', json: [] }), 'warning', 'exit 3'],
  ['text', 'ok', 'ok'],
])('the outcome of %j is %s: %s', (result, kind, text) => {
  expect(command.answered(result)).toEqual({ kind, text });
});

test('a failure that a function declares as forbidden is a refusal', () => {
  expect([command.failed('C215').kind, command.failed('C211').kind]).toEqual(['refused', 'failed']);
});

test('failures inside a result are not ok', () => {
  const inResult = Reading.of({ fails_in_result: true });
  const failed = { success: false, metadata: { code: 'missing' } };
  expect(inResult.answered(failed)).toEqual({ kind: 'failed', text: 'missing' });
  const inItems = Reading.of({ fails_in_items: 'results' });
  const results = [{ success: true }, { success: false }];
  expect(inItems.answered({ results })).toEqual({ kind: 'warning', text: '1 of 2 failed' });
});

test('ignores metadata of any other shape', () => {
  for (const metadata of [7, [], { reads: { line: 'path' } }, { errors: 'none', fails_in_items: 3 }]) {
    const reading = Reading.of(metadata);
    expect([reading.line({ path: 'a' }), reading.answered({}), reading.failed('X').kind]).toEqual([
      undefined,
      { kind: 'ok', text: 'ok' },
      'failed',
    ]);
  }
});

test('counts the lines of reported changes', () => {
  const hunks = [{ before_line: 1, after_line: 1, lines: ['-a', '+b', '+c', ' d'] }];
  expect(changedLines([{ path: 'a', kind: 'modified', hunks }, { path: 'b', kind: 'deleted' }, 'cut'])).toEqual({
    files: 2,
    added: 2,
    removed: 1,
  });
  expect([changedLines([]), changedLines(undefined)]).toEqual([undefined, undefined]);
});
