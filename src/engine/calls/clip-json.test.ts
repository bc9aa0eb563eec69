import { expect, test } from 'vitest';

import { clipJson, MAX_KEPT_CHARS, MAX_TEXT_CHARS } from './clip-json.ts';

const clip = (value: unknown) => {
  const { json, isCut, isMasked } = clipJson(value);
  return { value: JSON.parse(json.toString()) as unknown, isCut, isMasked };
};

test('a short value without secrets is returned unchanged', () => {
  const value = { path: 'a', list: [1, null, true, 'x'], nested: { deep: [{}] }, ünï: '☃' };
  expect(clip(value)).toEqual({ value, isCut: false, isMasked: false });
  expect(clip(undefined).value).toBe(null);
});

test('a long text is cut with the missing length, and values beside it are kept', () => {
  const { value, isCut } = clip({ content: 'x'.repeat(MAX_TEXT_CHARS + 100), path: 'big.txt' });
  expect(value).toEqual({ content: `${'x'.repeat(MAX_TEXT_CHARS)}… (100 more characters)`, path: 'big.txt' });
  expect(isCut).toBe(true);
});

test.each([
  ['texts', Array.from({ length: 20 }, () => 'y'.repeat(10_000))],
  ['a million numbers', Array.from({ length: 1_000_000 }, () => 0)],
  ['a million empty texts', Array.from({ length: 1_000_000 }, () => '')],
  ['a million empty objects', Array.from({ length: 1_000_000 }, () => ({}))],
  ['a million empty variables', { env: Array.from({ length: 1_000_000 }, () => []) }],
  ['a hundred thousand fields', Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field ${at}`, at]))],
])('%s are cut to the bytes that may be kept', (_, value) => {
  const { json, isCut } = clipJson(value);
  expect([json.length < 1.2 * MAX_KEPT_CHARS, isCut]).toEqual([true, true]);
  expect(json.toString()).toMatch(/… \(\d+ more|\d+ more fields/);
});

test('circular and deeply nested values are cut', () => {
  const circle: Record<string, unknown> = { name: 'round' };
  circle.self = circle;
  const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown;
  expect([clip(circle).isCut, clip(deep).isCut]).toEqual([true, true]);
});

test('values that JSON lacks become text', () => {
  expect(clip({ at: new Date(0), big: 2n ** 64n }).value).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    big: '18446744073709551616',
  });
});

test.each([
  ['token', { token: 'abc' }, { token: '•••' }],
  ['camel case', { accessToken: 'abc', apiKey: 7 }, { accessToken: '•••', apiKey: '•••' }],
  [
    'with dashes',
    { headers: { 'X-Api-Key': 'k', Cookie: 'c', Accept: '*' } },
    { headers: { 'X-Api-Key': '•••', Cookie: '•••', Accept: '*' } },
  ],
  [
    'the key of a channel',
    { content: { channel_id: 'c', access_key: 'k' } },
    { content: { channel_id: 'c', access_key: '•••' } },
  ],
  ['a whole object', { credentials: { user: 'me' } }, { credentials: '•••' }],
  ['an environment', { env: { HOME: '/root', N: 1 } }, { env: { HOME: '•••', N: '•••' } }],
  ['an environment as a list', { env: ['HOME=/root', 'EMPTY='] }, { env: ['HOME=•••', '•••'] }],
  ['a list that is not a list of variables', { env: ['KEY', 'c2VjcmV0cw=='] }, { env: ['•••', '•••'] }],
  [
    'pairs',
    {
      env: [
        ['KEY', 'a=b'],
        ['PIN', 12],
        ['a', 'b', 'c'],
      ],
    },
    {
      env: [
        ['KEY', '•••'],
        ['PIN', '•••'],
        ['•••', '•••', '•••'],
      ],
    },
  ],
  [
    'names and values',
    { env: [{ name: 'KEY', value: 'v' }, { key: 'PIN', value: ['v'] }, { name: 'v' }] },
    { env: [{ name: 'KEY', value: '•••' }, { key: 'PIN', value: '•••' }, { name: '•••' }] },
  ],
  ['lists and objects in an environment', { env: { A: ['v'], B: { c: 'v' } } }, { env: { A: '•••', B: '•••' } }],
  ['an environment in one text', { env: 'A=v B=v' }, { env: '•••' }],
  [
    'environments by longer names',
    { env_vars: ['A=v'], environmentVariables: { A: 'v' } },
    { env_vars: ['A=•••'], environmentVariables: { A: '•••' } },
  ],
  [
    'headers as pairs',
    {
      headers: [
        ['Cookie', 'c'],
        ['Accept', '*'],
      ],
    },
    {
      headers: [
        ['Cookie', '•••'],
        ['Accept', '*'],
      ],
    },
  ],
  [
    'headers by name',
    {
      headers: [
        { name: 'Authorization', value: 'Bearer b' },
        { key: 'Accept', value: '*' },
      ],
    },
    {
      headers: [
        { name: 'Authorization', value: '•••' },
        { key: 'Accept', value: '*' },
      ],
    },
  ],
])('secrets are masked: %s', (_, value, masked) => {
  expect(clip(value)).toEqual({ value: masked, isCut: false, isMasked: true });
});

test.each([
  { max_tokens: 5 },
  { password: '' },
  { token: null },
  { is_secret: true },
  { keyboard: 'us' },
  { env: { A: '', B: null, C: true }, envs: [] },
])('no secret: %j', (value) => {
  expect(clip(value)).toEqual({ value, isCut: false, isMasked: false });
});

test('a name that is far too long is cut', () => {
  const { value, isCut } = clip({ ['n'.repeat(100_000)]: 1 });
  expect([value, isCut]).toEqual([{ [`${'n'.repeat(256)}…`]: 1 }, true]);
});

test('a value with a throwing getter is replaced as a whole', () => {
  const broken = {
    a: 1,
    get b() {
      throw new Error('no');
    },
  };
  expect(clip(broken)).toEqual({ value: '…', isCut: true, isMasked: false });
});
