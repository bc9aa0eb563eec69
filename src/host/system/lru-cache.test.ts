import fc from 'fast-check';
import { expect, test } from 'vitest';

import { LruCache } from './lru-cache.ts';

test('keeps what was used last, up to its weight', () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  cache.get('a');
  cache.set('c', 3, 4);
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3]);

  cache.set('heavy', 4, 11);
  cache.set('a', 5, 6);
  expect(['a', 'c', 'heavy'].map((key) => cache.get(key))).toEqual([5, 3, undefined]);
});

test('is a list in order of use, cut where the weights exceed the limit', () => {
  const step = fc.record({ key: fc.nat(8), weight: fc.integer({ min: 0, max: 12 }), isGet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const cache = new LruCache<number, number>(10);
      let model: { key: number; weight: number }[] = [];
      for (const { key, weight, isGet } of steps) {
        const found = model.find((entry) => entry.key === key);
        model = model.filter((entry) => entry !== found);
        if (isGet) {
          expect(cache.get(key)).toBe(found?.weight);
          if (found) model.push(found);
          continue;
        }
        cache.set(key, weight, weight);
        if (weight <= 10) model.push({ key, weight });
        while (model.reduce((sum, entry) => sum + entry.weight, 0) > 10) model.shift();
      }
    }),
  );
});
