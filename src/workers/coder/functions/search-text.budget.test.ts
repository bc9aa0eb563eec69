/** A regex that makes other engines hang does not block the rest of the process. */
import { expect, test } from 'vitest';

import { run, tempDir, watchTurns } from '#testing';
import { search } from './search.ts';

const LONGEST_MS = 1000;

test.each([
  ['(a+)+$', `${'a'.repeat(50_000)}!`],
  ['(.*)*=x', 'x=x'.repeat(20_000)],
  ['\\s+$', `${' '.repeat(50_000)}x`],
  ['(x+x+)+y', 'x'.repeat(50_000)],
  ['(\\w{1,10}){1,10}!', 'word '.repeat(2000)],
])('the regex %s does not hold up anyone', async (query, text) => {
  await using dir = await tempDir({ f: `${text}\nsecond\n` });
  const longestTurn = watchTurns();
  await run(search, { query, regex: true }, { base_path: dir.root });
  expect(longestTurn()).toBeLessThan(LONGEST_MS);
});
