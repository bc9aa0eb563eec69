import { expect, test } from 'vitest';
import { z } from 'zod';

import type { Bus } from './bus.ts';
import { announce, readCatalogue } from './catalogue.ts';
import { defineErrors } from './define-errors.ts';
import type { FunctionDef } from './define-function.ts';

const errors = defineErrors({
  C211: { meaning: 'No such file.', http: 404, message: (_: object) => '' },
  C216: { meaning: 'Busy.', http: 503, retryable: true, message: (_: object) => '' },
});

const readFile: FunctionDef<never> = {
  id: 'coder::fs::read-file_text',
  summary: 'Read one file.',
  effect: 'read',
  permissions: ['fs.read'],
  request: z.object({ path: z.string() }),
  response: z.object({ text: z.string() }),
  errors: ['C211', 'C216'],
  examples: [{ path: 'README.md' }],
  handle: () => ({ text: '' }),
};

/** A bus that returns the given list, and records its requests. */
function busWith(functions: unknown[]): Bus & { asked: unknown[] } {
  const asked: unknown[] = [];
  const call = (...request: unknown[]) => {
    asked.push(request);
    return Promise.resolve({ functions });
  };
  return { asked, call } as unknown as Bus & { asked: unknown[] };
}

test('a definition is announced with schemas titled after its id', () => {
  expect(announce({ errors }, readFile)).toEqual({
    id: 'coder::fs::read-file_text',
    description: 'Read one file.',
    request_format: expect.objectContaining({ title: 'FsReadFileTextInput', required: ['path'] }),
    response_format: expect.objectContaining({ title: 'FsReadFileTextOutput', required: ['text'] }),
    metadata: {
      effect: 'read',
      permissions: ['fs.read'],
      destructive: false,
      idempotent: true,
      details: undefined,
      errors: [
        { code: 'C211', meaning: 'No such file.', http: 404, retryable: false },
        { code: 'C216', meaning: 'Busy.', http: 503, retryable: true },
      ],
      examples: [{ path: 'README.md' }],
    },
  });
});

test('the catalogue returns a function as it was announced', async () => {
  const { id, description, ...announced } = JSON.parse(JSON.stringify(announce({ errors }, readFile)));
  const row = { function_id: id, namespace: 'default', worker_name: 'coder', description, ...announced };
  const bus = busWith([row]);
  expect(await readCatalogue(bus, { includeInternal: true })).toEqual([
    {
      id,
      namespace: 'default',
      worker: 'coder',
      summary: 'Read one file.',
      request: announced.request_format,
      response: announced.response_format,
      ...announced.metadata,
    },
  ]);
  expect(bus.asked).toEqual([['engine::functions::list', { include_internal: true }]]);
});

test('permissions, risk, side effects and constraints are announced and read back', async () => {
  const policy = { risk: 'low', sideEffects: ['noise'], constraints: ['paths'] } as const;
  const { id, metadata } = announce({ errors, failedResult: () => ({}) }, { ...readFile, policy });
  const policyFields = {
    permissions: ['fs.read'],
    risk: 'low',
    side_effects: ['noise'],
    constraints: ['paths'],
    fails_in_result: true,
  };
  expect(metadata).toMatchObject(policyFields);
  expect(await readCatalogue(busWith([{ function_id: id, metadata }]))).toMatchObject([policyFields]);
});

const bare = { namespace: 'default', worker: '', summary: '', errors: [], examples: [] };

test.each<[string, object, object]>([
  ['nothing but an id', {}, {}],
  ['nulls', { description: null, request_format: null, response_format: null, metadata: null }, {}],
  ['metadata that is a text', { metadata: 'internal' }, {}],
  ['metadata that is a list', { metadata: [1] }, {}],
  ['an unknown effect', { metadata: { effect: 'teleport', owner: 'x' } }, {}],
  ['examples that are not a list', { metadata: { examples: 'a', details: 7, effect: 'read' } }, { effect: 'read' }],
  ['errors that are not summaries', { metadata: { errors: ['C1'], examples: [1] } }, { examples: [1] }],
  [
    'errors that say little',
    { metadata: { errors: [{ code: 'C1' }] } },
    { errors: [{ code: 'C1', meaning: '', http: 500, retryable: false }] },
  ],
  [
    'a policy of wrong types',
    { metadata: { permissions: 'all', risk: 'none', side_effects: [1], constraints: {} } },
    {},
  ],
  ['schemas that are not objects', { request_format: true, response_format: 'object' }, {}],
])('a foreign row with %s is taken for what it is', async (_, row, entry) => {
  expect(await readCatalogue(busWith([{ function_id: 'py::fn', ...row }]))).toEqual([
    { id: 'py::fn', ...bare, ...entry },
  ]);
});

test('a malformed list is an error', async () => {
  await expect(readCatalogue(busWith([{ id: 'no function_id' }]))).rejects.toThrow();
});
