import { expect, test } from 'vitest';

import type { JsonSchema } from '#contract';
import { schemaFields } from './schema-fields.ts';

const types = (properties: unknown, more: JsonSchema = {}) =>
  Object.fromEntries(schemaFields({ properties, ...more }).map(({ name, type }) => [name, type]));

test('a field has its name, type, default and meaning', () => {
  const schema = {
    properties: {
      path: { type: 'string', description: 'Where.' },
      depth: { type: 'integer', format: 'uint32', default: 4 },
      rest: { default: null },
    },
    required: ['path'],
  };
  expect(schemaFields(schema)).toEqual([
    { name: 'path', type: 'string', isRequired: true, description: 'Where.' },
    { name: 'depth', type: 'uint32', isRequired: false, default: '4', description: '' },
    { name: 'rest', type: 'any', isRequired: false, default: 'null', description: '' },
  ]);
});

test('types are described in words', () => {
  const definitions = { Kind: { enum: ['file', 'dir'] }, Entry: { type: 'object' } };
  const properties = {
    nullable: { type: ['integer', 'null'], format: 'uint32' },
    list: { type: 'array', items: { type: 'array', items: { $ref: '#/definitions/Entry' } } },
    kind: { $ref: '#/definitions/Kind' },
    maybe: { anyOf: [{ $ref: '#/definitions/Entry' }, { type: 'null' }] },
    one: { const: 1 },
    number: { type: 'integer' },
  };
  expect(types(properties, { definitions })).toEqual({
    nullable: 'uint32 or null',
    list: 'Entry[][]',
    kind: '"file" or "dir"',
    maybe: 'Entry or null',
    one: '1',
    number: 'integer',
  });
  expect(types({ kind: { $ref: '#/$defs/Kind' } }, { $defs: definitions })).toEqual({ kind: '"file" or "dir"' });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no object', 'x'],
  ['fields that are not an object', { properties: 'abc', required: 5 }],
])('a schema of %s has no fields', (_, schema) => {
  expect(schemaFields(schema as JsonSchema)).toEqual([]);
});

test('invalid parts of a foreign schema count as any', () => {
  let bottomless: JsonSchema = { type: 'string' };
  for (let level = 0; level < 20_000; level++) bottomless = { type: 'array', items: bottomless };
  const properties = {
    yes: true,
    no: null,
    text: 'x',
    odd: { type: { a: 1 } },
    mixed: { type: ['string', 5] },
    any: { anyOf: 'x' },
    several: { anyOf: [true, null, 3] },
    items: { type: 'array', items: false },
    missing: { $ref: '#/definitions/None' },
    self: { $ref: '#/definitions/Self' },
  };
  const definitions = { Self: { $ref: '#/definitions/Self', enum: [1] } };
  expect(types(properties, { definitions })).toEqual({
    yes: 'any',
    no: 'any',
    text: 'any',
    odd: 'any',
    mixed: 'string',
    any: 'any',
    several: 'any or any or any',
    items: 'any[]',
    missing: 'None',
    self: 'any',
  });
  expect(types({ bottomless })).toEqual({ bottomless: `any${'[]'.repeat(17)}` });
});
