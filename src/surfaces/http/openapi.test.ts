import { expect, test } from 'vitest';

import type { CatalogueEntry, JsonSchema } from '#contract';
import { openApiDocument } from './openapi.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const entry = (id: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  id,
  namespace: 'default',
  worker: 'digger',
  summary: `About ${id}.`,
  errors: [],
  examples: [],
  ...more,
});
const dig = entry('digger::dig', {
  details: 'Holes stay open.',
  effect: 'write',
  request: {
    $schema: DRAFT_07,
    title: 'DigInput',
    type: 'object',
    properties: { place: { $ref: '#/definitions/Place' }, depth: { type: ['integer', 'null'], default: null } },
    required: ['place'],
    definitions: {
      Place: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/definitions/Place' }, { type: 'null' }] } } },
    },
  },
  response: { $schema: DRAFT_07, title: 'DigOutput', type: 'object', definitions: { Place: { type: 'string' } } },
  errors: [
    { code: 'D1', meaning: 'Gone.', http: 404, retryable: false },
    { code: 'D2', meaning: 'Taken.', http: 409, retryable: false },
    { code: 'D3', meaning: 'Also gone.', http: 404, retryable: true },
  ],
  examples: [{ place: {} }, { place: { next: null } }],
});

/** Schemas of other frameworks: pydantic, a self-referencing schema, odd names, nonsense, endless nesting. */
const foreign = [
  entry('py::run', {
    request: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { $ref: '#/$defs/B' }, B: {} } },
  }),
  entry('tree::walk', {
    request: { type: 'object', properties: { up: { $ref: '#' }, name: { $ref: '#/properties/up' } } },
  }),
  entry('odd::names', {
    request: {
      properties: { a: { $ref: '#/definitions/Map%3Cstring,%20a~1b%3E' } },
      definitions: { 'Map<string, a/b>': {} },
    },
  }),
  entry('odd::deep', { request: deep(20_000) }),
  entry('odd::junk', {
    request: { definitions: 'x', $defs: null, properties: [null, 1] },
    response: { $ref: 'http://elsewhere/x.json' },
  }),
  entry('odd::{braces} and/slash'),
  entry('a::b-c'),
  entry('a::b_c'),
  entry('a::b::c'),
];

test('a function is a POST with its schemas, examples and failures', () => {
  expect(openApiDocument([dig], '1.2.3')).toEqual({
    openapi: '3.1.0',
    info: { title: 'Workcell', version: '1.2.3', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths: {
      '/functions/digger/dig': {
        post: {
          operationId: 'digger_dig',
          summary: 'About digger::dig.',
          description: 'Holes stay open.',
          tags: ['digger'],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  title: 'DigInput',
                  type: 'object',
                  properties: {
                    place: { $ref: '#/components/schemas/digger_dig.request.Place' },
                    depth: { type: ['integer', 'null'], default: null },
                  },
                  required: ['place'],
                },
                example: { place: {} },
              },
            },
          },
          responses: {
            '200': {
              description: 'The result.',
              content: { 'application/json': { schema: { title: 'DigOutput', type: 'object' } } },
            },
            '404': { description: 'D1: Gone.\nD3: Also gone.', content: failure },
            '409': { description: 'D2: Taken.', content: failure },
            default: { description: 'Any other failure.', content: failure },
          },
        },
      },
    },
    components: {
      schemas: {
        Failure: expect.objectContaining({ required: ['error'] }),
        'digger_dig.request.Place': {
          type: 'object',
          properties: {
            next: { anyOf: [{ $ref: '#/components/schemas/digger_dig.request.Place' }, { type: 'null' }] },
          },
        },
        'digger_dig.response.Place': { type: 'string' },
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { token: [] }],
  });
});
const failure = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } };

test('http.P2 whatever workers send, references resolve and names are unique and allowed', () => {
  const document = openApiDocument([dig, ...foreign], '1.2.3') as unknown as OpenApi;
  const operations = Object.values(document.paths).map(({ post }) => post);
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(expect.arrayContaining(['a_b_c', 'a_b_c_2', 'a_b_c_3', 'odd__braces__and_slash']));
  expect(Object.keys(document.paths).filter((path) => !/^\/functions(\/[\w.~%-]+)+$/.test(path))).toEqual([]);
  expect(Object.keys(document.components.schemas).filter((name) => !/^[\w.-]+$/.test(name))).toEqual([]);
  expect(
    operations.flatMap(({ responses }) => Object.values(responses)).filter(({ description }) => !description),
  ).toEqual([]);

  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
    ([, reference = '']) => reference,
  );
  expect(references.length).toBeGreaterThan(foreign.length);
  expect(
    references.filter(
      (reference) => reference !== 'http://elsewhere/x.json' && resolve(document, reference) === undefined,
    ),
  ).toEqual([]);
});

test('a schema that refers to itself keeps doing so', () => {
  const [, walk] = foreign;
  const { components, paths } = openApiDocument([walk!], '1') as unknown as OpenApi;
  const own = '#/components/schemas/tree_walk.request';
  expect(paths['/functions/tree/walk']!.post.requestBody.content['application/json'].schema).toEqual({ $ref: own });
  expect(components.schemas['tree_walk.request']).toEqual({
    type: 'object',
    properties: { up: { $ref: own }, name: { $ref: `${own}/properties/up` } },
  });
});

test('functions of other namespaces have no path of their own', () => {
  const document = openApiDocument([entry('a::b'), entry('a::b', { namespace: 'other' })], '1');
  expect(Object.keys((document as unknown as OpenApi).paths)).toEqual(['/functions/a/b']);
});

interface OpenApi {
  paths: Record<string, { post: Operation }>;
  components: { schemas: JsonSchema };
}
interface Operation {
  operationId: string;
  requestBody: { content: { 'application/json': { schema: JsonSchema } } };
  responses: Record<string, { description: string }>;
}

function resolve(document: unknown, reference: string): unknown {
  const keys = reference.replace(/^#\//, '').split('/');
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

test('a failure that is a result leaves the result as it is described', () => {
  const reported = entry('files::read', { errors: [{ code: 'F1', meaning: 'Gone.', http: 200, retryable: false }] });
  const { paths } = openApiDocument([reported], '1') as { paths: Record<string, { post: { responses: object } }> };
  const { responses } = paths['/functions/files/read']!.post;
  expect(Object.keys(responses)).toEqual(['200', 'default']);
  expect(responses).toMatchObject({ 200: { description: 'The result.' } });
});

function deep(levels: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}
