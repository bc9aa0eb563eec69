/**
 * The swap race for every kind of file access: another process swaps a name inside with a symlink to the outside, as
 * fast as it can, while an operation is tried through that name again and again.
 *
 * It continues beyond the given rounds until both sides of the swap were met; otherwise nothing was raced.
 */
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { expect } from 'vitest';

import { tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';
import { leftoversIn, snapshot } from './jail-write-support.ts';

/** A name in the workspace, and the symlink beside it to its counterpart outside. */
export type Swap = readonly [string, string];

export const FOLDER_ABOVE: Swap = ['a/b', 'a/evil'];
export const FOLDER_ITSELF: Swap = ['a/b/c', 'a/b/evil'];
export const FILE_ITSELF: Swap = ['a/b/c/f.txt', 'a/b/c/evil'];
/** Needs `makeTree` or `makeTreeOnce`. */
export const IN_THE_TREE: Swap = ['a/b/c/tree/sub', 'a/b/c/tree/evil'];

/** Has the text that every attack searches for, and a size that nothing inside has. */
export const OUTSIDE_TEXT = 'SECRET, inside and edited, and longer than any file inside the workspace';

export interface RacePlace extends AsyncDisposable {
  workspace: string;
  outside: string;
  /** Points to `a/b/c` of the workspace, whatever its current name. */
  inside: string;
}

export async function racePlace(): Promise<RacePlace> {
  const dir = await tempDir({
    'ws/a/b/c/f.txt': 'inside',
    'ws/a/b/c/only-inside': '',
    'ws/some/x/y': 'inside',
    'ws/plain': 'inside',
    'outside/c/f.txt': { mode: 0o600, content: OUTSIDE_TEXT },
    'outside/c/SECRET': OUTSIDE_TEXT,
    'outside/c/tree/sub/deep/SECRET': 'SECRET',
  });
  const outside = dir.path('outside');
  dir.add({
    'ws/a/evil': { symlink: outside },
    'ws/a/b/evil': { symlink: `${outside}/c` },
    'ws/a/b/c/evil': { symlink: `${outside}/c/f.txt` },
  });
  const fd = openSync(dir.path('ws/a/b/c'), 'r');
  return {
    workspace: dir.path('ws'),
    outside,
    inside: `/proc/self/fd/${fd}`,
    async [Symbol.asyncDispose]() {
      closeSync(fd);
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** Restores the entries that an operation removes: once with round -1 before the race, then before each round. */
export type Prepare = (place: RacePlace, round: number) => void;

export const nothing: Prepare = () => {};
export const makeFile: Prepare = ({ inside }) => writeFileSync(`${inside}/f.txt`, 'inside');
export const makePlain: Prepare = ({ workspace }) => writeFileSync(`${workspace}/plain`, 'inside');

/** Built under another name, because the attacker may have a symlink at the target. */
export const makeTree: Prepare = (place, round) => makeTreeOf(place, round, 0);

/** Its other folders come first, so that time passes between reading the name of the swapped one and opening it. */
export const makeWideTree: Prepare = (place, round) => makeTreeOf(place, round, 40);

function makeTreeOf({ inside, outside }: RacePlace, round: number, siblings: number): void {
  const name = `${inside}/build-${round}`;
  for (let sibling = 0; sibling < siblings; sibling++) mkdirSync(`${name}/${sibling}`, { recursive: true });
  mkdirSync(`${name}/sub/deep`, { recursive: true });
  writeFileSync(`${name}/sub/deep/x`, 'inside');
  symlinkSync(`${outside}/c/tree/sub`, `${name}/evil`);
  if (lstatSync(`${inside}/tree`, { throwIfNoEntry: false })) renameSync(`${inside}/tree`, `${inside}/old-${round}`);
  renameSync(name, `${inside}/tree`);
}

export const makeTreeOnce: Prepare = (place, round) => {
  if (round < 0) makeTree(place, round);
};

/** Replacing the file may have replaced the symlink instead, and the repair races too; the attack needs both. */
export const makeLink: Prepare = ({ inside, outside }) => {
  const links = ['f.txt', 'evil'].filter((name) => lstatSync(`${inside}/${name}`).isSymbolicLink());
  if (links.length === 1) return;

  rmSync(`${inside}/evil`);
  if (links.length === 0) symlinkSync(`${outside}/c/f.txt`, `${inside}/evil`);
  else writeFileSync(`${inside}/evil`, 'inside', { flag: 'wx' });
};

export type RaceOutcome = 'done' | 'refused' | 'leaked' | 'bugs';

interface Race {
  title: string;
  swap: Swap;
  prepare: Prepare;
  rounds: number;
  /** Listing or copying a directory succeeds with either side of the swap. */
  mayNotRefuse?: boolean;
}

/** Tries the operation under the race and checks all that must hold after it. */
export async function race(
  place: RacePlace,
  { title, swap, prepare, rounds, mayNotRefuse = false }: Race,
  attempt: (round: number) => Promise<RaceOutcome>,
): Promise<void> {
  const { workspace, outside } = place;
  const before = snapshot(outside);
  const counts = { done: 0, refused: 0, leaked: 0, bugs: 0 };
  const isMet = () => counts.done > 0 && (counts.refused > 0 || mayNotRefuse);

  prepare(place, -1);
  await whileSwapping([`${workspace}/${swap[0]}`, `${workspace}/${swap[1]}`], async () => {
    for (let round = 0; round < rounds || (round < 50 * rounds && !isMet()); round++) {
      prepare(place, round);
      counts[await attempt(round)]++;
    }
  });

  console.log(`${title} swapped:`, counts);
  expect(snapshot(outside)).toEqual(before);
  expect([counts.leaked, counts.bugs]).toEqual([0, 0]);
  expect(counts.done).toBeGreaterThan(0);
  if (!mayNotRefuse) expect(counts.refused).toBeGreaterThan(0);
  expect(leftoversIn(workspace)).toEqual([]);
}
