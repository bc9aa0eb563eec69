/**
 * coder.C109 for searches: another process swaps a directory or a file with a symlink to the outside, as fast as it can,
 * while the tree is searched, by the main process and by search processes. Nothing from outside may be returned.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import { coder } from '#workers/coder';
import { rounds, tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';

const ROUNDS = rounds(150, 2500, 20_000);

const search = coder.functions.find((fn) => fn.id === 'coder::search')!;

describe.skipIf(process.platform !== 'linux')(
  'coder.P13 coder.C109 a name that is swapped for a link out, while it is searched',
  () => {
    test.each([
      ['a folder, by the main process', 'a/b', 'a/evil', { query: 'e' }],
      ['a folder, by search processes', 'a/b', 'a/evil', { query: 'S.CRET|inside', regex: true }],
      ['a file, by the main process', 'a/b/c/f.txt', 'a/b/c/evil', { query: 'e' }],
      ['a file, by search processes', 'a/b/c/f.txt', 'a/b/c/evil', { query: '[eE]', regex: true }],
      ['the folder that is searched', 'a/b', 'a/evil', { query: 'e', path: 'a/b' }],
    ] as const)(
      '%s',
      async (_, name, link, payload) => {
        const counts = await race([name, link], payload);
        console.log(`coder::search, ${name} swapped:`, counts);
        expect(counts).toMatchObject({ leaked: 0, other: 0 });
        expect(counts.found).toBeGreaterThan(0);
      },
      120_000,
    );

    test.each([
      ['a folder', 'a/b', 'a/evil', { query: 'e' }],
      ['a folder, by a regex', 'a/b', 'a/evil', { query: 'S.CRET|inside', regex: true }],
      ['a file', 'a/b/c/f.txt', 'a/b/c/evil', { query: 'inside' }],
      ['the folder that is searched', 'a/b', 'a/evil', { query: 'e', path: 'a/b' }],
    ] as const)(
      '%s, in memory that is kept in step with it',
      async (_, name, link, payload) => {
        const counts = await race([name, link], payload, { isWarm: true });
        console.log(`coder::search in memory, ${name} swapped:`, counts);
        expect(counts).toMatchObject({ leaked: 0, other: 0 });
        expect(counts.found).toBeGreaterThan(0);
        expect(counts.warm).toBeGreaterThan(ROUNDS / 2);
      },
      120_000,
    );
  },
);

/** The results of the searches while the name was swapped. A tree of many files is indexed in memory. */
async function race([name, link]: readonly [string, string], payload: object, { isWarm = false } = {}) {
  await using dir = await tempDir({
    ...Object.fromEntries(Array.from({ length: isWarm ? 400 : 0 }, (_, i) => [`ws/many/${i}`, 'nothing'])),
    'ws/a/b/c/f.txt': 'inside',
    'ws/a/b/g.txt': 'inside',
    'ws/z.txt': 'inside',
    'outside/c/f.txt': 'SECRET e inside',
    'outside/c/SECRET': 'SECRET e inside',
    'outside/SECRET': 'SECRET e inside',
  });
  dir.add({ [`ws/${link}`]: { symlink: dir.path(link === 'a/evil' ? 'outside' : 'outside/c/f.txt') } });
  const names: [string, string] = [dir.path(`ws/${name}`), dir.path(`ws/${link}`)];
  return await whileSwapping(names, () => hammer(dir.path('ws'), payload, { isWarm }));
}

async function hammer(base_path: string, payload: object, { isWarm }: { isWarm: boolean }) {
  const context = await coder.open(parseConfig(coder.config, { base_path }, 'coder'), silentLog);
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  const counts = { found: 0, nothing: 0, refused: 0, leaked: 0, other: 0, warm: 0 };
  try {
    if (isWarm) await answer({ def: coder, context }, search, { callId: '1', payload: { query: 'e' } }, surroundings);
    for (let waited = 0; isWarm && !context.workspace.isWarm && waited < 60_000; waited += 5) await sleep(5);
    // On until the name was met inside.
    for (let round = 0; round < ROUNDS || (round < 50 * ROUNDS && counts.found === 0); round++) {
      const reply = await answer({ def: coder, context }, search, { callId: '1', payload }, surroundings);
      const text = JSON.stringify(reply);
      if (context.workspace.isWarm) counts.warm++;
      if (text.includes('SECRET')) counts.leaked++;
      else if (text.includes('inside')) counts.found++;
      else if ('result' in reply) counts.nothing++;
      else if (/C211|C215/.test(text)) counts.refused++;
      else counts.other++;
    }
  } finally {
    await coder.close(context);
  }
  return counts;
}
