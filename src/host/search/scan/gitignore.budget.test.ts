/** How long a pattern takes that was made to explode. */
import { expect, test } from 'vitest';

import { parseIgnoreLine } from './ignore-pattern.ts';

test('less than a second', () => {
  const stars = parseIgnoreLine(`${'*a'.repeat(200)}b`)!;
  const folders = parseIgnoreLine('**/'.repeat(200).concat('x'))!;
  const started = performance.now();
  expect(stars.matches(['a'.repeat(250)])).toBe(false);
  expect(folders.matches(Array.from({ length: 200 }, () => 'a'))).toBe(false);
  expect(performance.now() - started).toBeLessThan(1000);
});
