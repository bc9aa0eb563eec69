/** How a schema of the catalogue is converted for a tool. */
import { expect, test } from 'vitest';

import { toolSchema } from './tool-schema.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test.each([
  ['a format of numbers', { type: 'integer', format: 'uint64', minimum: 0 }, { type: 'integer', minimum: 0 }],
  [
    'null where the field may be left out, and a default of null',
    { type: ['integer', 'null'], default: null, minimum: 0, description: 'How many.' },
    { type: 'integer', minimum: 0, description: 'How many.' },
  ],
  [
    'null beside a reference, whose description stays',
    { description: 'What.', anyOf: [{ $ref: '#/definitions/What' }, { type: 'null' }] },
    { description: 'What.', allOf: [{ $ref: '#/definitions/What' }] },
  ],
  [
    'null among alternatives',
    { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  ],
  [
    'a list of types, for alternatives',
    { type: ['string', 'integer'], default: 'a', maxLength: 3 },
    {
      default: 'a',
      anyOf: [
        { type: 'string', maxLength: 3 },
        { type: 'integer', maxLength: 3 },
      ],
    },
  ],
])('a field of a request loses %s', (_, field, taken) => {
  expect(toolSchema(object({ field }), 'input')).toEqual(object({ field: taken }));
});

test.each([
  ['a required field of a request', 'input', { required: ['field'] }],
  ['a field of a result', 'output', {}],
] as const)('%s keeps its null, as an alternative', (_, side, more) => {
  const field = { type: ['array', 'null'], items: { type: 'string' }, description: 'Names.' };
  const anyOf = [{ type: 'array', items: { type: 'string' } }, { type: 'null' }];
  expect(toolSchema(object({ field }, more), side)).toEqual(object({ field: { description: 'Names.', anyOf } }, more));
});

test('fields named like keywords and values that look like schemas stay as they are', () => {
  const schema = object({
    format: { type: 'string', format: 'date' },
    type: { type: 'string', enum: ['uint8', null] },
    like: { type: 'object', default: { type: ['a', 'null'], format: 'int32' } },
  });
  expect(toolSchema(schema, 'input')).toEqual(schema);
});

test('a schema that is not an object is not offered', () => {
  expect([toolSchema({ type: 'array' }, 'input'), toolSchema(undefined, 'output')]).toEqual([undefined, undefined]);
});
