import { expect, test } from 'vitest';

import type { CatalogueEntry } from '#contract';
import { functionHelp } from './function-help.ts';

const dig: CatalogueEntry = {
  id: 'digger::dig',
  namespace: 'default',
  worker: 'digger',
  summary: 'Dig a hole.',
  details: 'It stays\nopen.',
  request: {
    properties: {
      place: { type: 'string', description: 'Where.' },
      depth: { type: 'integer', default: 4 },
      tools: { type: 'array', items: { $ref: '#/definitions/Tool' } },
    },
    required: ['place'],
    definitions: { Tool: { properties: { kind: { $ref: '#/definitions/Kind' } } }, Kind: { enum: ['spade', 'hand'] } },
  },
  errors: [{ code: 'D1', meaning: 'It is gone.', http: 404, retryable: false }],
  examples: [{ place: "Tom's garden" }, {}],
};

test('help shows a function with its fields, shapes, failures and an example to paste', () => {
  expect(functionHelp(dig)).toBe(`digger::dig: Dig a hole.

It stays open.

Fields:
  place=<string> (required)
      Where.
  depth=<integer> (default 4)
  tools=<Tool[]>

Tool:
  kind=<"spade" or "hand">

Errors:
  D1: It is gone.

Example:
  workcell call digger::dig --json '{"place":"Tom'\\''s garden"}'
`);
});

test('help says when a foreign function has no description, and escapes its text', () => {
  const bare = { ...dig, summary: '', details: undefined, request: undefined, errors: [], examples: [] };
  expect(functionHelp(bare)).toBe('digger::dig: \n');
  const loud = { ...bare, summary: '\u001b[2J', request: { properties: { 'a\u0007': { description: '\u009b' } } } };
  expect(functionHelp(loud)).toBe('digger::dig: [2J\n\nFields:\n  a =<any>\n       \n');
});

test('permissions, risk, side effects and constraints come before the fields', () => {
  const policy = {
    permissions: ['earth.move', 'earth.look'],
    risk: 'high',
    side_effects: [],
    constraints: ['paths'],
  } as const;
  const { request: _, errors: __, examples: ___, ...rest } = dig;
  const entry = { ...rest, ...policy, permissions: [...policy.permissions], side_effects: [], constraints: ['paths'] };
  expect(functionHelp({ ...entry, errors: [], examples: [] })).toBe(`digger::dig: Dig a hole.

It stays open.

Permissions: earth.move, earth.look
Risk: high
Constraints: paths
`);
});
