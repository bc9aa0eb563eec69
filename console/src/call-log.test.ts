import { expect, test } from 'vitest';

import {
  addReply,
  barOf,
  emptyLog,
  figuresOf,
  filterCalls,
  groupByCaller,
  MAX_KEPT,
  perSecond,
  type EndedRow,
  type RunningRow,
} from './call-log.ts';

const row = (seq: number, more: Partial<EndedRow> = {}): EndedRow => ({
  seq,
  id: `id-${seq}`,
  function_id: 'coder::tree',
  namespace: 'default',
  caller: 'agent',
  caller_id: 'local:1 agent',
  line: null,
  changed: null,
  principal: { id: 'local:1', kind: 'local' },
  via: null,
  worker: 'coder',
  node: null,
  started_at_ms: 1_000 * seq,
  duration_ms: 10,
  code: more.code ?? null,
  outcome: more.code ? { kind: 'failed', text: more.code } : { kind: 'ok', text: 'ok' },
  ...more,
});
const runningRow = (more: Partial<EndedRow> = {}): RunningRow => {
  const { seq: _, code: __, outcome: ___, changed: ____, ...call } = row(1, more);
  return { ...call, waits: false };
};
const logOf = (rows: EndedRow[]) => addReply(emptyLog, { ended: rows, running: [], latest: rows.length });

test('the newest call comes first, and the oldest go when there are too many', () => {
  const first = logOf([row(1), row(2)]);
  const both = addReply(first, { ended: [row(3, { code: 'C211' })], running: [], latest: 3 });
  expect(both.ended.map(({ id, outcome, code }) => [id, outcome, code])).toEqual([
    ['id-3', 'failed', 'C211'],
    ['id-2', 'ok', undefined],
    ['id-1', 'ok', undefined],
  ]);
  expect(logOf(Array.from({ length: MAX_KEPT + 1 }, (_, at) => row(at + 1))).ended).toHaveLength(MAX_KEPT);
});

test('what runs is replaced by each answer', () => {
  const call = runningRow();
  const running = addReply(emptyLog, { ended: [], running: [call], latest: 0 });
  expect(running.running.map(({ outcome }) => outcome)).toEqual(['running']);
  expect(addReply(running, { ended: [row(1)], running: [], latest: 1 }).running).toEqual([]);
});

test('a call has the same key while it runs and when it has ended; calls that reached no worker have each their own', () => {
  const call = runningRow();
  const keys = (calls: { key: string }[]) => calls.map(({ key }) => key);
  const { running } = addReply(emptyLog, { ended: [], running: [call], latest: 0 });
  expect([keys(running), keys(logOf([row(1)]).ended)]).toEqual([['id-1'], ['id-1']]);

  const unknown = { id: '', worker: null, code: 'function_not_found' };
  const refused = keys(logOf([row(1, unknown), row(2, { ...unknown, started_at_ms: 1_000 })]).ended);
  expect(new Set(refused).size).toBe(2);
});

test('a call in another namespace is of another function, while it runs and when it has ended', () => {
  const call = runningRow({ namespace: 'lab' });
  const reply = { ended: [row(2, { namespace: 'lab' }), row(3, { namespace: null })], running: [call], latest: 3 };
  const { ended, running } = addReply(emptyLog, reply);
  expect([...running, ...ended].map(({ functionKey }) => functionKey)).toEqual([
    'lab/coder::tree',
    'coder::tree',
    'lab/coder::tree',
  ]);
  expect(filterCalls(ended, { words: 'lab/', isOwnShown: true })).toHaveLength(1);
});

test.each([
  ['coder agent', true, 3],
  ['c211', true, 1],
  ['failed', true, 1],
  ['ok', true, 2],
  ['coder shell', true, 0],
  ['', false, 2],
])('the filter %j, own calls shown: %s', (words, isOwnShown, count) => {
  const { ended } = logOf([
    row(1),
    row(2, { code: 'C211' }),
    row(3, { caller: 'console', principal: { id: 'page:1', kind: 'page' }, worker: 'agent' }),
  ]);
  expect(filterCalls(ended, { words, isOwnShown })).toHaveLength(count);
});

test('a call is found by its line and its caller, says its true outcome, and waits while its caller is paused', () => {
  const exit = row(1, { line: 'npm test', outcome: { kind: 'warning', text: 'exit 2' } });
  const other = row(2, { caller: 'cursor', caller_id: 'local:2 cursor' });
  const waiting = { ...runningRow({ id: 'w' }), waits: true };
  const { ended, running } = addReply(emptyLog, { ended: [exit, other], running: [waiting], latest: 2 });
  expect(filterCalls(ended, { words: 'npm exit', isOwnShown: false }).map(({ says }) => says)).toEqual(['exit 2']);
  expect(
    filterCalls(addReply(emptyLog, { ended: [row(1), row(2, { node: 'b' })], running: [], latest: 2 }).ended, {
      words: '',
      node: 'b',
      isOwnShown: false,
    }),
  ).toMatchObject([{ id: 'id-2' }]);
  expect(filterCalls(ended, { words: '', caller: 'local:2 cursor', isOwnShown: false }).map(({ id }) => id)).toEqual([
    'id-2',
  ]);
  expect(running.map(({ outcome, says }) => [outcome, says])).toEqual([['waiting', 'paused']]);
  const groups = groupByCaller([...running, ...ended]);
  expect(groups.map(({ caller, calls }) => [caller, calls.length])).toEqual([
    ['agent', 2],
    ['cursor', 1],
  ]);
});

test('figures', () => {
  const { ended } = logOf([1, 2, 3, 4, 100].map((ms, at) => row(at, { duration_ms: ms, code: ms > 50 ? 'X' : null })));
  expect(figuresOf(ended)).toEqual({ count: 5, failed: 1, medianMs: 3, slowMs: 100 });
  expect(figuresOf([])).toEqual({ count: 0, failed: 0, medianMs: 0, slowMs: 0 });
});

test('calls are counted in the second they ended in', () => {
  const { ended } = logOf([row(7), row(8, { code: 'X' }), row(9), row(1)]);
  expect(perSecond(ended, 9_500, 3)).toEqual([
    { ok: 1, failed: 0 },
    { ok: 0, failed: 1 },
    { ok: 1, failed: 0 },
  ]);
});

test('a bar stays inside its column', () => {
  const span = { fromMs: 1_000, toMs: 2_000 };
  expect(barOf(row(1, { started_at_ms: 1_500, duration_ms: 250 }), span)).toEqual({ left: 0.5, width: 0.25 });
  expect(barOf(row(1, { started_at_ms: 1_900, duration_ms: 900 }), span).width).toBeCloseTo(0.1);
});
