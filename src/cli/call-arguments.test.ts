import { expect, test } from 'vitest';

import { toPayload } from './call-arguments.ts';

test.each([
  ['nothing is an empty request', [], undefined, {}],
  [
    'a value that is JSON is that value',
    ['n=3', 'yes=true', 'no=null', 'list=[1,"b"]', 'map={"k":1}', 'text="3"'],
    undefined,
    { n: 3, yes: true, no: null, list: [1, 'b'], map: { k: 1 }, text: '3' },
  ],
  [
    'any other value is text',
    ['path=src/a.ts', 'list=[1', 'word=nullable', 'empty=', 'spaced= x '],
    undefined,
    { path: 'src/a.ts', list: '[1', word: 'nullable', empty: '', spaced: ' x ' },
  ],
  ['a value may hold equal signs', ['query=a=b=c'], undefined, { query: 'a=b=c' }],
  ['pairs win over --json', ['a=1'], '{"a":0,"b":2}', { a: 1, b: 2 }],
  ['the last of two pairs wins', ['a=1', 'a=2'], undefined, { a: 2 }],
  ['--json alone is sent as it is', [], '[1,2]', [1, 2]],
  [
    'a field may have any name',
    ['__proto__=1', 'constructor=2'],
    undefined,
    JSON.parse('{"__proto__":1,"constructor":2}'),
  ],
])('%s', (_, pairs, json, payload) => {
  expect(toPayload(pairs, json)).toStrictEqual(payload);
});

test.each([
  ['a word without =', ['README.md'], undefined, '"README.md" is not a key=value pair; use --json for a whole request'],
  ['a pair without a key', ['=x'], undefined, '"=x" is not a key=value pair; use --json for a whole request'],
  ['pairs over a list', ['a=1'], '[]', '--json must be an object when key=value pairs are given as well'],
  ['pairs over null', ['a=1'], 'null', '--json must be an object when key=value pairs are given as well'],
  ['broken JSON', [], '{"a":', '--json is not JSON: Unexpected end of JSON input'],
])('%s is refused', (_, pairs, json, message) => {
  expect(() => toPayload(pairs, json)).toThrow(expect.objectContaining({ name: 'UsageError', message }));
});
