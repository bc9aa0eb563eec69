import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { requestSchema, responseSchema } from './json-schema.ts';
import { int32, int64, named, uint, uint32, uint64 } from './wire.ts';

/** The schema of one field. */
function field(schema: z.ZodType, io = requestSchema): unknown {
  return (io(z.object({ it: schema }), 'T').properties as { it: unknown }).it;
}

test('a schema starts with its draft and title, and allows unknown fields', () => {
  const schema = requestSchema(z.object({ a: z.string().describe('An a.') }), 'ReadFileInput');
  expect(schema).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'ReadFileInput',
    type: 'object',
    properties: { a: { type: 'string', description: 'An a.' } },
    required: ['a'],
  });
  expect(Object.keys(schema).slice(0, 2)).toEqual(['$schema', 'title']);
  expect(requestSchema(z.strictObject({}), 'T')).not.toHaveProperty('additionalProperties');
});

test.each([
  ['uint32', uint32(), { type: 'integer', format: 'uint32', minimum: 0 }],
  ['uint64', uint64(), { type: 'integer', format: 'uint64', minimum: 0 }],
  ['uint', uint(), { type: 'integer', format: 'uint', minimum: 0 }],
  ['int32', int32(), { type: 'integer', format: 'int32' }],
  ['int64', int64(), { type: 'integer', format: 'int64' }],
  ['a uint32 from 1', uint32().min(1), { type: 'integer', format: 'uint32', minimum: 1 }],
  [
    'a described uint64',
    uint64().describe('Bytes.'),
    { type: 'integer', format: 'uint64', minimum: 0, description: 'Bytes.' },
  ],
  ['a nullable uint32', uint32().nullable(), { type: ['integer', 'null'], format: 'uint32', minimum: 0 }],
  ['a nullable text', z.string().nullable(), { type: ['string', 'null'] }],
  ['a nullish text', z.string().nullish(), { type: ['string', 'null'] }],
  [
    'a described nullable list',
    z.array(z.string()).nullable().describe('Names.'),
    { type: ['array', 'null'], items: { type: 'string' }, description: 'Names.' },
  ],
  ['a nullable with a default', z.boolean().nullable().default(null), { type: ['boolean', 'null'], default: null }],
  ['a union of two', z.union([z.string(), z.number()]), { type: ['string', 'number'] }],
  ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
  ['anything', z.unknown(), {}],
])('%s', (_, schema, expected) => {
  expect(field(schema)).toEqual(expected);
});

test('bounds are checked although the schema does not publish them', () => {
  expect(uint32().safeParse(2 ** 32).success).toBe(false);
  expect(uint32().safeParse(2 ** 32 - 1).success).toBe(true);
  expect([uint32(), uint64()].map((schema) => schema.safeParse(-1).success)).toEqual([false, false]);
  expect(uint64().safeParse(2 ** 53).success).toBe(false);
  expect(int64().safeParse(-(2 ** 53) + 1).success).toBe(true);
});

test('a field with a default may be left out of a request and is always in a response', () => {
  const schema = z.object({ a: z.string().default('x'), b: z.string().optional(), c: z.string() });
  expect(requestSchema(schema, 'T').required).toEqual(['c']);
  expect(responseSchema(schema, 'T').required).toEqual(['a', 'c']);
  expect(field(z.string().default('x'))).toEqual({ type: 'string', default: 'x' });
});

describe('a named shape', () => {
  const Entry = named('Entry', z.object({ name: z.string(), size: uint64() }));
  const definitions = {
    Entry: {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', format: 'uint64', minimum: 0 } },
      required: ['name', 'size'],
    },
  };

  test('is defined once and referred to', () => {
    const schema = responseSchema(z.object({ one: Entry, all: z.array(Entry), maybe: Entry.nullable() }), 'T');
    expect(schema).toMatchObject({
      properties: {
        one: { $ref: '#/definitions/Entry' },
        all: { type: 'array', items: { $ref: '#/definitions/Entry' } },
        maybe: { anyOf: [{ $ref: '#/definitions/Entry' }, { type: 'null' }] },
      },
    });
    expect(schema.definitions).toEqual(definitions);
  });

  test('may be recursive', () => {
    interface Tree {
      children: Tree[];
    }
    const Tree: z.ZodType<Tree> = named(
      'Tree',
      z.object({
        get children() {
          return z.array(Tree);
        },
      }),
    );
    expect(responseSchema(z.object({ root: Tree }), 'T').definitions).toEqual({
      Tree: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#/definitions/Tree' } } },
        required: ['children'],
      },
    });
  });
});
