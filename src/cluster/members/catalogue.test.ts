/** Other nodes read all that a node announces: both ends have the same limits. */
import { expect, test } from 'vitest';

import type { RegisteredFunction } from '#engine';
import { FarCatalogues, OwnCatalogue } from './catalogue.ts';

const MiB = 1024 * 1024;
const SELF = { name: 'a', id: '00000001' };

/** Of one worker; a built-in owner is one as well. */
function functionsOf(worker: string, count: number, bytes = 0): RegisteredFunction[] {
  const owner = { workerId: worker, connectedAtMs: 1 } as RegisteredFunction['owner'];
  const description = 'ü'.repeat(bytes / 2);
  const all = Array.from({ length: count }, (_, at) => ({
    id: `${worker}::f${at}`,
    namespace: 'default',
    description,
  }));
  return all.map((fn) => ({ ...fn, owner }));
}

/** The ids that another node reads. */
async function readBack(own: OwnCatalogue): Promise<string[]> {
  const far = new FarCatalogues(async (hash) => own.block(hash)!);
  const workers = await far.read(own.hash!, SELF);
  return workers.flatMap(({ functions }) => functions.map(({ id }) => id));
}

test.each([
  ['too many functions', [...functionsOf('w', 6_000), ...functionsOf('x', 6_000)], 10_000],
  ['too many bytes', [...functionsOf('w', 5, MiB), ...functionsOf('x', 5, MiB)], 7],
  ['one that is too large before others', [...functionsOf('w', 1, 9 * MiB), ...functionsOf('x', 3)], 3],
  ['too many workers', Array.from({ length: 1_200 }, (_, at) => functionsOf(`w${at}`, 2)).flat(), 2_000],
])('cluster.P32 %s: what fits is announced, the rest is counted', async (_, functions, fitting) => {
  const own = new OwnCatalogue();
  expect(own.update(functions)).toBe(true);
  expect([(await readBack(own)).length, own.omitted]).toEqual([fitting, functions.length - fitting]);
  expect(own.update(functions)).toBe(false);
});

test('announces all functions up to the limit; equal catalogues have equal hashes', async () => {
  const own = new OwnCatalogue();
  own.update(functionsOf('w', 10_000));
  expect([(await readBack(own)).length, own.omitted]).toEqual([10_000, 0]);
  const other = new OwnCatalogue();
  other.update(functionsOf('w', 10_000));
  expect(other.hash).toBe(own.hash);
});
