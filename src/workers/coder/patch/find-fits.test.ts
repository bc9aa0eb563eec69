/** Both search methods return the same matches as comparing at every line. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Turns } from '#host';
import { findFit, runOf, fitsAt } from './find-fits.ts';
import { Source } from './source.ts';

const turns = new Turns(new AbortController().signal, 5);
const line = fc.constantFrom('a', 'b', 'c', '');

test('returns the first or nearest match and counts the others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 40, size: 'max' }),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.nat(40),
      fc.option(fc.nat(40), { nil: undefined }),
      async (lines, wanted, from, near) => {
        const table = await (await Source.of(lines.map((each) => `${each}\n`).join(''), turns)).table(0, turns);
        const run = await runOf(wanted, table, turns);
        const places = lines.flatMap((_, at) => (at >= from && run && fitsAt(table, run, at) ? [at] : []));
        const distance = (at: number) => Math.abs(at - (near ?? 0));
        const nearest = places.reduce<number | undefined>(
          (best, at) => (best === undefined || distance(at) < distance(best) ? at : best),
          undefined,
        );
        const expected = nearest === undefined ? undefined : { at: nearest, others: places.length - 1 };
        const found = run && findFit(table, { run, from, near }, { countAll: true });
        expect(found).toEqual(expected);
      },
    ),
  );
});

test.each([1, 2, 7, 60_000])(
  'patch.C10 coder.P28 a run of %i equal lines among many: first and last match',
  async (length) => {
    const table = await (await Source.of('}\n'.repeat(120_000), turns)).table(0, turns);
    const run = (await runOf(
      Array.from({ length }, () => '}'),
      table,
      turns,
    ))!;
    const last = 120_000 - length;
    expect(findFit(table, { run, from: 5 }, { countAll: true })).toEqual({ at: 5, others: 100 });
    expect(findFit(table, { run, from: 0, near: last }, { countAll: true })).toEqual({ at: last, others: 100 });
    expect(findFit(table, { run, from: last + 1 }, { countAll: true })).toBeUndefined();
  },
);
