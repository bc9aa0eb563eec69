import { expect, test } from 'vitest';

import { recordLine } from './audit-record.ts';

test('a record of a call and one of an operator action are printed on one line each', () => {
  const call = {
    seq: 1,
    ts: 0,
    function: 'shell::exec',
    caller: 'ci',
    verdict: 'deny',
    rule: 'look',
    outcome: 'forbidden',
  };
  expect(recordLine({ ...call, arguments: { command: 'ls' } })).toBe(
    '1  1970-01-01T00:00:00.000Z  ci  shell::exec  deny by look  forbidden  {"command":"ls"}',
  );
  expect(recordLine({ seq: 2, ts: 0, action: 'approve', caller: 'me', target: { call: '7' } })).toBe(
    '2  1970-01-01T00:00:00.000Z  me  approve  {"call":"7"}',
  );
});
