/**
 * The published schemas against those of the original workers, kept in `fixtures/` without their prose.
 *
 * Every field of the original is there and the same; lists of required fields are equal; whatever we add is
 * optional. Where the original takes any value, ours only has to declare its type.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { describe, expect, test } from 'vitest';

import type { JsonSchema } from '#contract';
import { publishedCatalogue } from './catalogue.ts';

type Pinned = Record<string, { request: JsonSchema; response: JsonSchema }>;

const published = new Map((await publishedCatalogue()).map((entry) => [entry.id, entry]));

describe.each(['coder', 'shell', 'sandbox'])('%s', (worker) => {
  const path = new URL(`fixtures/${worker}-schemas.json`, import.meta.url);
  const pinned = JSON.parse(readFileSync(path, 'utf8')) as Pinned;

  test.for(Object.entries(pinned))('repo.P5 %s has the schemas of the original', ([id, original], { skip }) => {
    const entry = published.get(id) ?? skip('not built yet');
    const isAnyValue = original.request.title === 'AnyValue';
    expect({
      request: isAnyValue ? missing(entry.request) : differences(original.request, entry.request, 'request'),
      response: differences(original.response, entry.response, 'response'),
    }).toEqual({ request: [], response: [] });
  });
});

test('every kind of difference is seen', () => {
  const original = {
    title: 'T',
    properties: { a: { type: 'integer', format: 'uint32', default: 1 }, b: { $ref: '#/definitions/B' }, c: {} },
    required: ['a', 'b'],
    definitions: { B: { oneOf: [{ enum: ['x'] }, { type: 'null' }] } },
  };
  const described = {
    title: 'T',
    description: 'Ours.',
    properties: {
      c: { description: 'Ours.' },
      b: { allOf: [{ $ref: '#/definitions/B' }], description: 'Ours.' },
      a: { type: 'integer', format: 'uint32', default: 1 },
      extra: { type: 'string' },
    },
    required: ['b', 'a'],
    definitions: { B: { oneOf: [{ enum: ['x'] }, { type: 'null' }] }, Extra: {} },
  };
  expect(differences(original, described, 'r')).toEqual([]);

  const changed = {
    title: 'U',
    properties: { a: { type: 'integer', default: 2, maximum: 9 }, b: { $ref: '#/definitions/C' } },
    required: ['a', 'b', 'extra'],
    definitions: { B: { oneOf: [{ enum: ['x', 'y'] }] } },
  };
  expect(differences(original, changed, 'r')).toEqual([
    'r.title: "U" instead of "T"',
    'r.properties.a.format: nothing instead of "uint32"',
    'r.properties.a.default: 2 instead of 1',
    'r.properties.a.maximum: 9 instead of nothing',
    'r.properties.b.$ref: "#/definitions/C" instead of "#/definitions/B"',
    'r.properties.c: nothing instead of {}',
    'r.required: ["a","b","extra"] instead of ["a","b"]',
    'r.definitions.B.oneOf.0.enum: ["x","y"] instead of ["x"]',
    'r.definitions.B.oneOf.1: nothing instead of {"type":"null"}',
  ]);
});

function missing(schema: JsonSchema | undefined): string[] {
  return schema?.type === 'object' ? [] : [`the request says nothing of what it takes: ${shown(schema)}`];
}

/** Where our schema differs from the original. */
function differences(original: unknown, ours: unknown, at: string): string[] {
  if (!isMap(original) || !isMap(ours)) {
    const isSame = isDeepStrictEqual(original, ours);
    return isSame ? [] : [`${at}: ${shown(ours)} instead of ${shown(original)}`];
  }
  const [left, right] = [withoutProse(original), withoutProse(ours)];
  const keywords = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keywords].flatMap((keyword) => keywordDifferences(keyword, left, right, `${at}.${keyword}`));
}

function keywordDifferences(keyword: string, left: JsonSchema, right: JsonSchema, at: string): string[] {
  const [original, ours] = [left[keyword], right[keyword]];
  switch (keyword) {
    case 'properties':
    case 'definitions': {
      const named = (ours ?? {}) as JsonSchema;
      return Object.entries(original ?? {}).flatMap(([name, value]) =>
        differences(value, named[name], `${at}.${name}`),
      );
    }
    case 'required':
      return differences(sorted(original), sorted(ours), at);
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return differences(
        Object.fromEntries(asList(original).entries()),
        Object.fromEntries(asList(ours).entries()),
        at,
      );
    default:
      return differences(original, ours, at);
  }
}

/** A reference with keywords beside it is written `allOf: [reference]` in draft-07. */
function withoutProse({ description: _, allOf, ...rest }: JsonSchema): JsonSchema {
  if (Array.isArray(allOf) && allOf.length === 1) return { ...(allOf[0] as JsonSchema), ...rest };
  return allOf === undefined ? rest : { allOf, ...rest };
}

const sorted = (names: unknown) => asList(names).map(String).toSorted();
const asList = (value: unknown) => (value ?? []) as unknown[];
const isMap = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown) => JSON.stringify(value) ?? 'nothing';
