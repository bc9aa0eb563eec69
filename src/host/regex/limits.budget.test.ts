/** Memory that patterns and texts leave behind in the process. */
import { describe, expect, test } from 'vitest';

import { compileRegex, parseReplacement } from './index.ts';

const MB = 1e6;

/** Growth of the process's memory over the work, after a first turn that fills the caches. */
function growthOf(turns: number, work: (turn: number) => void): number {
  for (let turn = 0; turn < turns / 10; turn++) work(turn);
  const before = process.memoryUsage().rss;
  for (let turn = 0; turn < turns; turn++) work(turn);
  return process.memoryUsage().rss - before;
}

describe('memory stays', { timeout: 120_000 }, () => {
  test('over 3000 patterns', () => {
    const text = Buffer.from('some text_12 = 3');
    const growth = growthOf(3_000, (turn) => compileRegex(`x${turn}|text_[0-9]+`).find(text));
    expect(growth).toBeLessThan(100 * MB);
  });

  test('over 100 texts of 4 MB', () => {
    const regex = compileRegex('(\\w+)_x|naïve');
    const text = Buffer.from('a naïve line of text_x\n'.repeat(170_000));
    const replacement = parseReplacement('$1', regex);
    const growth = growthOf(100, (turn) => {
      if (turn % 2) regex.isMatch(text);
      else regex.replaceAll(text, replacement, { limit: 1_000 });
    });
    expect(growth).toBeLessThan(150 * MB);
  });
});
