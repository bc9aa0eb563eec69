/** Memory and time of a far too long text after it was cut. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { cleanText } from './clean-text.ts';

test('keeps only the shown part of a very long text in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const shown = Array.from({ length: 20 }, (_, at) =>
    cleanText(JSON.parse(`"${at}${'x'.repeat(5_000_000)}"`) as string),
  );
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  expect(shown.splice(0).map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => 280));
  collectGarbage();
  expect(before - process.memoryUsage().heapUsed).toBeLessThan(20_000_000);
});
