/**
 * coder.C109 for changes: another process swaps a name inside with a symlink to the outside, as fast as it can, while
 * files are made, edited, moved and removed through that name. Nothing outside may ever be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { lstatSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { coder } from '#workers/coder';
import { jailModes, rounds, tempDir } from '#testing';
import {
  FILE_ITSELF,
  FOLDER_ABOVE,
  IN_THE_TREE,
  makeFile,
  makeLink,
  makePlain,
  makeTree,
  makeWideTree,
  nothing,
  race,
  racePlace,
} from './jail-race.ts';
import { openContext, operations, outcome, snapshot } from './jail-write-support.ts';

/** Each of the attacks below. */
const ROUNDS = rounds(200, 800, 8000);

const fresh = (round: number) => `a/b/c/new-${round}`;
const freshDeep = (round: number) => `a/b/c/deep-${round}/x/y`;
const file = () => 'a/b/c/f.txt';
const tree = () => 'a/b/c/tree';

describe.skipIf(process.platform !== 'linux').each(jailModes('descriptor'))(
  'coder.P6 coder.C109 %s: a name that is swapped for a link out',
  (title, way) => {
    test.each([
      ['create', 'a folder above', FOLDER_ABOVE, fresh, nothing],
      ['create', 'a folder above what is missing', FOLDER_ABOVE, freshDeep, nothing],
      ['create', 'the file', FILE_ITSELF, file, makeLink],
      ['update', 'a folder above', FOLDER_ABOVE, file, nothing],
      ['update', 'the file', FILE_ITSELF, file, makeLink],
      ['delete', 'a folder above', FOLDER_ABOVE, file, makeFile],
      ['deleteTree', 'a folder above', FOLDER_ABOVE, tree, makeTree],
      ['deleteTree', 'a folder in it', IN_THE_TREE, tree, makeWideTree],
      ['makeDirectory', 'a folder above', FOLDER_ABOVE, freshDeep, nothing],
      ['chmod', 'a folder above', FOLDER_ABOVE, file, nothing],
      ['chmod', 'the file', FILE_ITSELF, file, nothing],
      ['renameFrom', 'a folder above', FOLDER_ABOVE, file, makeFile],
      ['renameTo', 'a folder above', FOLDER_ABOVE, fresh, makePlain],
      ['patchUpdate', 'the file', FILE_ITSELF, file, makeLink],
    ] as const)(
      '%s with %s swapped',
      async (operation, what, swap, path, prepare) => {
        await using place = await racePlace();
        const context = openContext(place.workspace, way);
        const attack = { title: `${title}: ${operation} with ${what}`, swap, prepare, rounds: ROUNDS };
        await race(place, attack, (round) => outcome(operations[operation](context, path(round))));
        await coder.close(context);
      },
      600_000,
    );
  },
);

describe.each(jailModes())('%s jail', (_, way) => {
  const TRAPS = [
    '../outside/f.txt',
    '../ws-evil/f.txt', // a sibling whose name begins the same
    'out/f.txt',
    'out/new.txt',
    'out/no/such/new.txt', // missing folders behind a link
    'chain/f.txt', // a link to a link
    'chain/../f.txt',
    'inner/out/f.txt',
    'loop/f.txt',
    'dangling/f.txt',
    'dangling-out/new/f.txt',
  ];
  /** The last name is a symlink: operations that follow it are refused, operations on the symlink itself are not. */
  const LINKS = ['file-out', 'out', 'dangling-out', 'loop', 'chain'];
  const FOLLOWING = new Set<keyof typeof operations>(['create', 'update', 'chmod', 'patchAdd', 'patchUpdate']);

  const traps = () =>
    tempDir({
      'ws/plain': 'inside',
      'ws/folder/': '',
      'ws/out': { symlink: '../outside' },
      'ws/chain': { symlink: 'out' },
      'ws/inner': { symlink: 'folder' },
      'ws/folder/out': { symlink: '../../outside' },
      'ws/file-out': { symlink: '../outside/f.txt' },
      'ws/loop': { symlink: 'loop' },
      'ws/dangling': { symlink: 'nothing' },
      'ws/dangling-out': { symlink: '../outside/nothing' },
      'outside/f.txt': 'SECRET',
      'ws-evil/f.txt': 'SECRET',
    });

  test.each(Object.keys(operations) as (keyof typeof operations)[])(
    '%s is refused where the path leaves the root',
    async (name) => {
      await using dir = await traps();
      const context = openContext(dir.path('ws'), way);
      const before = snapshot(dir.root);
      for (const path of [...TRAPS, ...(FOLLOWING.has(name) ? LINKS : [])]) {
        expect([path, await outcome(operations[name](context, path))]).toEqual([path, 'refused']);
      }
      expect(snapshot(dir.root)).toEqual(before);
      await coder.close(context);
    },
  );

  test.each(['delete', 'deleteTree', 'renameFrom', 'patchDelete'] as const)(
    '%s acts on a link itself',
    async (name) => {
      await using dir = await traps();
      const context = openContext(dir.path('ws'), way);
      const outside = () => [...snapshot(dir.path('outside')), ...snapshot(dir.path('ws-evil'))];
      const before = outside();
      for (const path of LINKS) {
        expect([path, await outcome(operations[name](context, path))]).toEqual([path, 'done']);
        expect(lstatSync(dir.path(`ws/${path}`), { throwIfNoEntry: false })).toBeUndefined();
      }
      expect(outside()).toEqual(before);
      await coder.close(context);
    },
  );
});
