import fc from 'fast-check';
import { expect, test } from 'vitest';

import { handlerFailure, handlerText, readErrorBody, toErrorBody, type ErrorBody } from './error-body.ts';

test('a coded failure is compact JSON in the text of a handler failure', () => {
  expect(handlerFailure({ code: 'C211', message: 'a.txt does not exist', fix: { path: 'b.txt' } })).toEqual({
    code: 'invocation_failed',
    message: '{"code":"C211","message":"a.txt does not exist","fix":{"path":"b.txt"}}',
  });
});

const codes = fc.string();
const extras = fc.dictionary(
  fc.string().filter((key) => key !== 'code' && key !== 'message'),
  fc.jsonValue(),
);

test('what a failure says about itself survives the wire', () => {
  fc.assert(
    fc.property(codes, fc.string(), extras, (code, message, extra) => {
      const fields = JSON.parse(JSON.stringify({ code, message, ...extra }));
      const overTheWire = toErrorBody(JSON.parse(JSON.stringify(handlerFailure(fields))));
      expect(readErrorBody(overTheWire)).toEqual(fields);
    }),
  );
});

test('a failure without a code keeps its text', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes('{')),
      (text) => {
        expect(handlerText(text)).toEqual({ code: 'invocation_failed', message: `handler error: ${text}` });
        expect(readErrorBody(handlerText(text))).toEqual({
          code: 'invocation_failed',
          message: text,
        });
      },
    ),
  );
});

test.each<[string, ErrorBody, object]>([
  [
    'an engine error',
    { code: 'function_not_found', message: 'Function x not found' },
    { code: 'function_not_found', message: 'Function x not found' },
  ],
  [
    'a failure behind other words',
    { code: 'invocation_failed', message: 'Error: {"code":"S1","message":"m"}' },
    { code: 'S1', message: 'm' },
  ],
  ['braces that are not a failure', { code: 'c', message: 'use {a: 1}' }, { code: 'c', message: 'use {a: 1}' }],
  [
    'JSON that is not a failure',
    { code: 'c', message: '{"code":1,"message":"m"}' },
    { code: 'c', message: '{"code":1,"message":"m"}' },
  ],
  [
    'a failure with words after it',
    { code: 'c', message: '{"code":"S1","message":"m"} (again)' },
    { code: 'c', message: '{"code":"S1","message":"m"} (again)' },
  ],
])('reads %s', (_, body, fields) => {
  expect(readErrorBody(body)).toEqual(fields);
});

test.each<[string, unknown, ErrorBody]>([
  ['a body as it is', { code: 'c', message: 'm', stacktrace: 's' }, { code: 'c', message: 'm', stacktrace: 's' }],
  [
    'no null for a stack, which the published client misreads',
    { code: 'c', message: 'm', stacktrace: null },
    { code: 'c', message: 'm' },
  ],
  ['nothing beside the three fields', { code: 'c', message: 'm', secret: 1 }, { code: 'c', message: 'm' }],
  ['a text', 'went wrong', { code: 'UNKNOWN', message: 'went wrong' }],
  ['a number', 42, { code: 'UNKNOWN', message: '42' }],
  ['null', null, { code: 'UNKNOWN', message: 'null' }],
  ['an object without a code', { message: 'm' }, { code: 'UNKNOWN', message: '{"message":"m"}' }],
  ['a code that is not text', { code: 1, message: 'm' }, { code: 'UNKNOWN', message: '{"code":1,"message":"m"}' }],
  [
    'an error too deep to be written',
    JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)),
    { code: 'UNKNOWN', message: 'an error that cannot be written as JSON' },
  ],
])('sends %s', (_, error, body) => {
  expect(toErrorBody(error)).toEqual(body);
});
