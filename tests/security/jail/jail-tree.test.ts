/**
 * coder.C109 for coder::tree: another process swaps a folder with a symlink to the outside, as fast as it can, while
 * the tree above it is shown. The tree may show the folder, the link or a mark; nothing from outside.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { describe, expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import { coder } from '#workers/coder';
import { rounds, tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';

const ROUNDS = rounds(1500, 5000, 5000);

const tree = coder.functions.find((fn) => fn.id === 'coder::tree')!;

describe.skipIf(process.platform !== 'linux')(
  'coder.P13 coder.C109 a tree over a folder that is swapped for a link out',
  () => {
    test.each([
      ['the folder itself', 'a/b', 'a/evil', ''],
      ['a folder below it', 'a/b/c', 'a/b/evil', 'c'],
      ['a folder on the way to it', 'a', 'evil', ''],
    ])(
      '%s (%s with %s)',
      async (_, name, link, target) => {
        await using dir = await tempDir({
          'ws/a/b/c/inside': '',
          'outside/c/SECRET': '',
          'outside/b/c/SECRET': '',
          'outside/SECRET': '',
        });
        dir.add({ [`ws/${link}`]: { symlink: dir.path(`outside/${target}`) } });

        await whileSwapping([dir.path(`ws/${name}`), dir.path(`ws/${link}`)], async () => {
          const counts = await hammer(dir.path('ws'));
          console.log(`coder::tree with ${name} swapped:`, counts);
          expect(counts).toMatchObject({ leaked: 0, failed: 0 });
          expect(counts.open).toBeGreaterThan(0);
          expect(counts.shut).toBeGreaterThan(0);
          expect(counts.marked).toBeGreaterThan(0);
        });
      },
      120_000,
    );
  },
);

/**
 * Shows the tree ROUNDS times, and on until every outcome was met: the folder open to its end, shut
 * because it is a symlink, or marked because it became a symlink between its stat and its opening.
 */
async function hammer(base_path: string) {
  const context = await coder.open(parseConfig(coder.config, { base_path }, 'coder'), silentLog);
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  const counts = { open: 0, shut: 0, marked: 0, leaked: 0, failed: 0 };
  const isDone = () => counts.open > 0 && counts.shut > 0 && counts.marked > 0;
  for (let round = 0; round < ROUNDS || (round < 100 * ROUNDS && !isDone()); round++) {
    const call = { callId: '1', payload: {} };
    const reply = await answer({ def: coder, context }, tree, call, surroundings);
    const text = JSON.stringify(reply);
    if (text.includes('SECRET')) counts.leaked++;
    else if ('error' in reply) counts.failed++;
    else if (text.includes('"inside"')) counts.open++;
    else if (text.includes('io_error')) counts.marked++;
    else counts.shut++;
  }
  return counts;
}
