import { expect, test } from 'vitest';

import { groupMarks } from './job-marks.ts';

test.runIf(groupMarks())('a group of a running job is not given to another job', () => {
  const marks = groupMarks()!;
  const first = marks.next(new Set());
  const others = Array.from({ length: 20_000 }, () => marks.next(new Set([first])));
  expect(others).not.toContain(first);
  expect(new Set(others).size).toBe(9999);
});

test.runIf(groupMarks())('the groups of the server itself do not change', () => {
  const before = process.getgroups!();
  const marks = groupMarks()!;
  const mark = marks.next(new Set());
  const command = { argv: ['true'], cwd: '/', env: {}, stdin: 'ignore' } as const;
  expect(marks.put(mark, command, () => process.getgroups!())).toEqual([...before, Number(mark)]);
  const failing = () => {
    throw new Error('not started');
  };
  expect(() => marks.put(mark, command, failing)).toThrow('not started');
  expect(process.getgroups!()).toEqual(before);
});
