/**
 * coder.C109: another process swaps a name inside with a symlink to the outside, as fast as it can, while
 * files are read and folders listed through that name. Nothing from outside may ever be returned.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { describe, expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus, type FunctionDef } from '#contract';
import { coder } from '#workers/coder';
import { rounds, tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';

const ROUNDS = rounds(5_000, 20_000, 20_000);

const [readFile, listFolder] = ['coder::read-file', 'coder::list-folder'].map((id) =>
  coder.functions.find((fn) => fn.id === id)!,
);

describe.skipIf(process.platform !== 'linux')('coder.P1 coder.C109 a name that is swapped for a link out', () => {
  test.each([
    ['the folder above', 'a/b', 'a/evil', readFile, { path: 'a/b/c/f.txt' }],
    ['the file itself', 'a/b/c/f.txt', 'a/b/c/evil', readFile, { path: 'a/b/c/f.txt' }],
    ['the folder above', 'a/b', 'a/evil', listFolder, { path: 'a/b/c' }],
    ['the folder itself', 'a/b/c', 'a/b/evil', listFolder, { path: 'a/b/c' }],
  ] as const)(
    '%s (%s with %s)',
    async (_, name, link, fn, payload) => {
      await using dir = await tempDir({
        'ws/a/b/c/f.txt': 'inside',
        'outside/c/f.txt': 'SECRET',
        'outside/c/SECRET': '',
      });
      const targets = { 'a/evil': '', 'a/b/evil': 'c', 'a/b/c/evil': 'c/f.txt' };
      dir.add({ [`ws/${link}`]: { symlink: dir.path(`outside/${targets[link]}`) } });

      await whileSwapping([dir.path(`ws/${name}`), dir.path(`ws/${link}`)], async () => {
        const counts = await hammer(dir.path('ws'), fn!, payload);
        console.log(`${fn!.id} with ${name} swapped:`, counts);
        expect(counts).toMatchObject({ leaked: 0, other: 0 });
        expect(counts.answered).toBeGreaterThan(0);
        expect(counts.refused).toBeGreaterThan(0);
      });
    },
    120_000,
  );
});

/** Calls ROUNDS times, and on until both sides of the swap were met. */
async function hammer(base_path: string, fn: FunctionDef<never>, payload: object) {
  const context = await coder.open(parseConfig(coder.config, { base_path }, 'coder'), silentLog);
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  const counts = { answered: 0, refused: 0, leaked: 0, other: 0 };
  for (let round = 0; round < ROUNDS || (round < 50 * ROUNDS && !(counts.answered && counts.refused)); round++) {
    const reply = await answer(
      { def: coder, context },
      fn as FunctionDef<typeof context>,
      { callId: '1', payload },
      surroundings,
    );
    const text = JSON.stringify(reply);
    if (text.includes('SECRET')) counts.leaked++;
    else if ('result' in reply) counts.answered++;
    else if (/C211|C215/.test(text)) counts.refused++;
    else counts.other++;
  }
  return counts;
}
