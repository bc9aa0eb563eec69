import { expect, test } from 'vitest';

import type { JsonSchema } from '../loose-json.ts';
import { fieldsOf } from './fields.ts';

const only = (property: JsonSchema, root: JsonSchema = {}) => {
  const field = fieldsOf({ type: 'object', properties: { x: property }, ...root });
  return field.kind === 'object' ? field.members[0]!.field : field;
};

test.each<[string, JsonSchema, unknown]>([
  ['a string', { type: 'string' }, { kind: 'text', isLong: false }],
  ['a count that may be null', { type: ['integer', 'null'], minimum: 0 }, { kind: 'number', isInteger: true }],
  ['a number', { type: 'number' }, { kind: 'number', isInteger: false }],
  ['a boolean', { type: 'boolean' }, { kind: 'boolean' }],
  ['an enum', { enum: ['a', 'b', null] }, { kind: 'choice', values: ['a', 'b'] }],
  ['a constant', { const: 7 }, { kind: 'choice', values: [7] }],
  ['a union of constants', { oneOf: [{ enum: ['a'] }, { const: 'b' }] }, { kind: 'choice', values: ['a', 'b'] }],
  ['a list', { type: 'array', items: { type: 'string' } }, { kind: 'list', item: { kind: 'text', isLong: false } }],
  ['a list of anything', { type: 'array' }, { kind: 'json' }],
  ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { kind: 'json' }],
  ['something or null', { anyOf: [{ type: 'boolean' }, { type: 'null' }] }, { kind: 'boolean' }],
  ['several types', { type: ['string', 'number'] }, { kind: 'json' }],
  ['anything', {}, { kind: 'json' }],
])('%s', (_, schema, field) => {
  expect(only(schema)).toEqual(field);
});

test('a $ref is resolved, and keywords beside it override it', () => {
  const schema = {
    type: 'object',
    properties: {
      size: { allOf: [{ $ref: '#/definitions/Size' }], description: 'How big.', default: 3 },
      lost: { $ref: '#/definitions/Nowhere' },
    },
    required: ['lost'],
    definitions: { Size: { type: 'integer', description: 'A size.' } },
  };
  expect(fieldsOf(schema)).toEqual({
    kind: 'object',
    members: [
      { name: 'lost', field: { kind: 'json' }, isRequired: true },
      {
        name: 'size',
        field: { kind: 'number', isInteger: true },
        isRequired: false,
        description: 'How big.',
        fallback: '3',
      },
    ],
  });
});

test('a union of tagged objects offers its tags', () => {
  const tagged = (tag: string, more: JsonSchema) => ({
    type: 'object',
    properties: { op: { const: tag }, ...more },
    required: ['op'],
  });
  const field = only({ oneOf: [tagged('insert', { text: { type: 'string' } }), tagged('remove', {})] });
  expect(field.kind === 'variant' && field.options.map(({ label }) => label)).toEqual(['insert', 'remove']);
});

test('a tag that cannot be converted to a string is labelled as JSON', () => {
  const tag = { toString: 1, valueOf: 1 };
  const field = only({ oneOf: [{ type: 'object', properties: { tag: { const: tag } } }, { type: 'string' }] });
  expect(field).toMatchObject({ options: [{ label: '{"toString":1,"valueOf":1}' }, { label: 'text' }] });
});

test('a recursive schema ends in a raw JSON field', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } };
  const text = JSON.stringify(fieldsOf({ ...node, $defs: { Node: node } }));
  expect(text).toContain('{"kind":"json"}');
  expect(fieldsOf({ $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } })).toEqual({ kind: 'json' });
});

test.each<[string, JsonSchema]>([
  ['that is only itself', { anyOf: [{ $ref: '#/$defs/A' }] }],
  ['of nothing but itself or null', { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] }],
])('a union %s ends in raw JSON', (_, schema) => {
  expect(fieldsOf({ ...schema, $defs: { A: schema } })).toEqual({ kind: 'json' });
});

test('a schema with many references to itself makes a bounded number of fields', () => {
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x${at}`, { $ref: '#/$defs/A' }]));
  const schema = { type: 'object', properties };
  expect(JSON.stringify(fieldsOf({ ...schema, $defs: { A: schema } })).length).toBeLessThan(1_000_000);
});

test.each([
  ['anything', true],
  ['nothing', false],
  ['no schema at all', 'text'],
])('%s is raw JSON', (_, schema) => {
  const wild = schema as unknown as JsonSchema;
  expect([fieldsOf(wild), only(wild), only({ anyOf: [wild, wild] })]).toMatchObject([
    { kind: 'json' },
    { kind: 'json' },
    { kind: 'variant', options: [{ field: { kind: 'json' } }, { field: { kind: 'json' } }] },
  ]);
});

test('a function without a schema takes raw JSON', () => {
  expect(fieldsOf(undefined)).toEqual({ kind: 'json' });
});
