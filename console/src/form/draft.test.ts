import { expect, test } from 'vitest';

import { draftOf, emptyDraft, payloadOf, type Draft } from './draft.ts';
import { fieldsOf, type Field } from './fields.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    line: { type: ['integer', 'null'] },
    force: { type: 'boolean', default: true },
    mode: { enum: ['fast', 2] },
    tags: { type: 'array', items: { type: 'string' } },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    target: {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'host' } }, required: ['kind'] },
        {
          type: 'object',
          properties: { kind: { const: 'sandbox' }, sandbox_id: { type: 'string' } },
          required: ['kind', 'sandbox_id'],
        },
      ],
    },
    options: { type: 'object', properties: { depth: { type: 'integer' } }, required: ['depth'] },
  },
  required: ['path'],
};
const field = fieldsOf(schema);

test.each<[string, unknown]>([
  ['only what must be given', { path: 'a' }],
  [
    'everything',
    {
      path: '',
      line: 3,
      force: false,
      mode: 2,
      tags: ['x', ''],
      env: { A: '1' },
      target: { kind: 'sandbox', sandbox_id: 's' },
      options: { depth: 0 },
    },
  ],
  ['the first of a union', { path: 'a', target: { kind: 'host' } }],
])('a payload survives the form: %s', (_, payload) => {
  expect(payloadOf(field, draftOf(field, payload))).toEqual({ value: payload, problems: [] });
});

test('an empty form sends the required fields and nothing else', () => {
  expect(payloadOf(field, emptyDraft(field))).toEqual({ value: { path: '' }, problems: [] });
});

test.each<[string, string, string]>([
  ['line', 'many', 'many is not a number'],
  ['line', '1.5', '1.5 is not a whole number'],
  ['env', '{', expect.stringMatching(/^no JSON: /)],
])('%s cannot be %j', (name, text, problem) => {
  expect(payloadOf(field, withMember(emptyDraft(field), name, { kind: 'leaf', text })).problems).toEqual([
    { path: name, text: problem },
  ]);
});

test('missing fields are reported with their path', () => {
  const list: Field = { kind: 'list', item: { kind: 'number', isInteger: true } };
  const items: Draft = { kind: 'list', items: [draftOf(list.item, 1), emptyDraft(list.item)] };
  expect(payloadOf(list, items).problems).toEqual([{ path: '[1]', text: 'needs a value' }]);
});

test('a field named like a property of Object.prototype is empty until it is set', () => {
  const named = fieldsOf({ type: 'object', properties: { constructor: { type: 'integer' }, ['__proto__']: {} } });
  expect(payloadOf(named, draftOf(named, {}))).toEqual({ value: {}, problems: [] });
});

test('an optional object is validated once one of its fields has text', () => {
  const touched = withMember(emptyDraft(field), 'options', {
    kind: 'object',
    members: { depth: { kind: 'leaf', text: 'deep' } },
  });
  expect(payloadOf(field, touched).problems).toEqual([{ path: 'options.depth', text: 'deep is not a number' }]);
});

function withMember(draft: Draft, name: string, member: Draft): Draft {
  return draft.kind === 'object' ? { ...draft, members: { ...draft.members, [name]: member } } : draft;
}
