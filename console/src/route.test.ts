import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test.each([
  ['', { page: 'home' }],
  ['#/calls', { page: 'calls' }],
  ['#/workspace/src%2Fa%20b.ts%3A7', { page: 'workspace', open: 'src/a b.ts:7' }],
  ['#/nowhere/x', { page: 'home' }],
  ['#/calls/c1?caller=local%3A1+claude-code', { page: 'calls', open: 'c1', caller: 'local:1 claude-code' }],
  ['#/calls?caller=x&node=build-7', { page: 'calls', caller: 'x', node: 'build-7' }],
  // Typed by hand or truncated: the page shows something anyway.
  ['#/functions/100%', { page: 'functions', open: '100%' }],
])('%j is read', async (hash, expected) => {
  vi.stubGlobal('location', { hash });
  vi.stubGlobal('addEventListener', () => {});
  const { route } = await import('./route.ts');
  expect(route.value).toEqual(expected);
});

test('half a character makes no link that cannot be written', async () => {
  vi.stubGlobal('location', { hash: '' });
  vi.stubGlobal('addEventListener', () => {});
  const { hashOf } = await import('./route.ts');
  expect(hashOf({ page: 'calls', caller: 'local:1 a&b' })).toBe('#/calls?caller=local%3A1+a%26b');
  expect(hashOf({ page: 'sandboxes', node: 'build-7' })).toBe('#/sandboxes?node=build-7');
  expect(hashOf({ page: 'functions', open: 'a\ud800' })).toBe('#/functions/a%EF%BF%BD');
});
