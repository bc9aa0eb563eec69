import { readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { cacheIdOf } from './cache-id.ts';

test('a cache keeps its id, and another has another', async () => {
  await using dir = await tempDir({ file: '' });
  const id = cacheIdOf(dir.path('one'));
  expect(id).toMatch(/^[\da-f-]{36}$/);
  expect(cacheIdOf(dir.path('one'))).toBe(id);
  expect(cacheIdOf(dir.path('two'))).not.toBe(id);
  expect(readdirSync(dir.path('one'))).toEqual(['cache-id']);
  expect(cacheIdOf(dir.path('file/below'))).toBeUndefined();
});
