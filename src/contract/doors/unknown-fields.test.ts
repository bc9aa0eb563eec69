/** Unknown fields of a request: found at any depth, and reported with the likely intended one. */
import { expect, test } from 'vitest';
import { z } from 'zod';

import { requestSchema } from '../schema/json-schema.ts';
import { describeUnknownFields } from './unknown-fields.ts';

const Op = z
  .discriminatedUnion('op', [
    z.object({ op: z.enum(['insert']), at_line: z.int(), content: z.string() }),
    z.object({ op: z.enum(['remove']), from_line: z.int(), to_line: z.int() }),
  ])
  .meta({ id: 'Op' });
const schema = requestSchema(
  z.object({
    path: z.string(),
    line_from: z.int().optional(),
    line_to: z.int().optional(),
    ops: z.array(Op).default([]),
    env: z.record(z.string(), z.string()).optional(),
    where: z.union([z.string(), z.object({ host: z.string() })]).optional(),
  }),
  'Read',
);

test.each([
  ['an alias from other tools', { path: 'a', offset: 3 }, '`offset` (did you mean `line_from`?)'],
  ['another', { file_path: 'a' }, '`file_path` (did you mean `path`?)'],
  ['the spelling of another language', { path: 'a', lineFrom: 3 }, '`lineFrom` (did you mean `line_from`?)'],
  ['a slip', { path: 'a', line_form: 3 }, '`line_form` (did you mean `line_from`?)'],
  ['something else', { path: 'a', wholly_new: 3 }, '`wholly_new`; the fields are path, line_from,'],
  ['one in a list', { path: 'a', ops: [{ op: 'insert', line: 1 }] }, '`ops[0].line`'],
  ['one of another alternative', { path: 'a', ops: [{ op: 'remove', content: 'x' }] }, '`ops[0].content`'],
  ['one among alternatives', { path: 'a', where: { hots: 'x' } }, '`where.hots` (did you mean `host`?)'],
  ['one named like a method', { path: 'a', toString: 1 }, '`toString`'],
])('%s', (_, payload, text) => {
  expect(describeUnknownFields(schema, payload)).toContain(`unknown field ${text}`);
});

test.each([
  ['known fields', { path: 'a', line_from: 1, ops: [{ op: 'insert', at_line: 1, content: '' }] }],
  ['fields that begin with _, at any depth', { path: 'a', _caller_worker_id: 'x', ops: [{ op: 'remove', _x: 1 }] }],
  ['any name in a map', { path: 'a', env: { ANY: 'x' } }],
  ['a text where an object may be', { path: 'a', where: 'x' }],
  ['what is not an object', [1, 2]],
  ['nothing', undefined],
])('%s pass', (_, payload) => {
  expect(describeUnknownFields(schema, payload)).toBeUndefined();
});

test('only the first three are reported, and a long name is cut', () => {
  const text = describeUnknownFields(schema, { a1: 1, a2: 1, a3: 1, a4: 1, ['x'.repeat(1e6)]: 1 })!;
  expect(text.match(/unknown field/g)).toHaveLength(3);
  expect(describeUnknownFields(schema, { ['x'.repeat(1e6)]: 1 })!.length).toBeLessThan(500);
});
