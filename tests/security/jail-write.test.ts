/**
 * C109 for changes: another process swaps a name inside with a link that leads out, as fast as it can, while
 * files are made, edited, moved and removed through that name. Nothing outside may ever be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md says what the portable one leaves open.
 */
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { coder } from '#workers/coder';
import { tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';
import { leftoversIn, openContext, operations, outcome, snapshot } from './jail-write-support.ts';

/** Each of the attacks below. */
const ROUNDS = process.env.WORKCELL_SOAK ? 16_000 : 1600;

const FOLDER_ABOVE = ['a/b', 'a/evil'] as const;
const FILE_ITSELF = ['a/b/c/f.txt', 'a/b/c/evil'] as const;

interface Place {
  /** Leads to `a/b/c`, whatever its name is just now. */
  inside: string;
  outside: string;
  workspace: string;
}
type Prepare = (place: Place, round: number) => void;

const nothing: Prepare = () => {};

const makeFile: Prepare = ({ inside }) => writeFileSync(`${inside}/f.txt`, 'inside');

const makePlain: Prepare = ({ workspace }) => writeFileSync(`${workspace}/plain`, 'inside');

/** Built under another name, because the attacker may have a link where we would write. */
const makeTree: Prepare = ({ inside, outside }, round) => {
  const name = `${inside}/build-${round}`;
  mkdirSync(`${name}/sub/deep`, { recursive: true });
  writeFileSync(`${name}/sub/deep/x`, '');
  symlinkSync(`${outside}/c/tree/sub`, `${name}/evil`);
  if (lstatSync(`${inside}/tree`, { throwIfNoEntry: false })) renameSync(`${inside}/tree`, `${inside}/old-${round}`);
  renameSync(name, `${inside}/tree`);
};

/** What replaces the file may have replaced the link instead, and mending it is raced too; the attack needs both. */
const makeLink: Prepare = ({ inside, outside }) => {
  const links = ['f.txt', 'evil'].filter((name) => lstatSync(`${inside}/${name}`).isSymbolicLink());
  if (links.length === 1) return;

  rmSync(`${inside}/evil`);
  if (links.length === 0) symlinkSync(`${outside}/c/f.txt`, `${inside}/evil`);
  else writeFileSync(`${inside}/evil`, 'inside', { flag: 'wx' });
};

const fresh = (round: number) => `a/b/c/new-${round}`;
const freshDeep = (round: number) => `a/b/c/deep-${round}/x/y`;
const file = () => 'a/b/c/f.txt';
const tree = () => 'a/b/c/tree';

describe.skipIf(process.platform !== 'linux')('C109 a name that is swapped for a link out', () => {
  test.each([
    ['create', 'a folder above', FOLDER_ABOVE, fresh, nothing],
    ['create', 'a folder above what is missing', FOLDER_ABOVE, freshDeep, nothing],
    ['create', 'the file', FILE_ITSELF, file, makeLink],
    ['update', 'a folder above', FOLDER_ABOVE, file, nothing],
    ['update', 'the file', FILE_ITSELF, file, makeLink],
    ['delete', 'a folder above', FOLDER_ABOVE, file, makeFile],
    ['deleteTree', 'a folder above', FOLDER_ABOVE, tree, makeTree],
    ['deleteTree', 'a folder in it', ['a/b/c/tree/sub', 'a/b/c/tree/evil'], tree, makeTree],
    ['makeDirectory', 'a folder above', FOLDER_ABOVE, freshDeep, nothing],
    ['chmod', 'a folder above', FOLDER_ABOVE, file, nothing],
    ['chmod', 'the file', FILE_ITSELF, file, nothing],
    ['renameFrom', 'a folder above', FOLDER_ABOVE, file, makeFile],
    ['renameTo', 'a folder above', FOLDER_ABOVE, fresh, makePlain],
  ] as const)(
    '%s with %s swapped',
    async (operation, what, swap, path, prepare) => {
      await using dir = await tempDir({
        'ws/a/b/c/f.txt': 'inside',
        'outside/c/f.txt': { mode: 0o600, content: 'SECRET' },
        'outside/c/tree/sub/keep': 'SECRET',
      });
      const [workspace, outside] = [dir.path('ws'), dir.path('outside')];
      dir.add({ 'ws/a/evil': { symlink: outside }, 'ws/a/b/c/evil': { symlink: `${outside}/c/f.txt` } });
      const before = snapshot(outside);

      const context = openContext(workspace);
      const fd = openSync(dir.path('ws/a/b/c'), 'r');
      const place = { inside: `/proc/self/fd/${fd}`, outside, workspace };
      const counts = { done: 0, refused: 0, bugs: 0 };
      prepare(place, -1);
      await whileSwapping(dir.path('exchange'), [`${workspace}/${swap[0]}`, `${workspace}/${swap[1]}`], async () => {
        for (let round = 0; round < ROUNDS || (round < 10 * ROUNDS && !(counts.done && counts.refused)); round++) {
          prepare(place, round);
          counts[await outcome(operations[operation](context, path(round)))]++;
        }
      });
      closeSync(fd);
      await coder.close(context);

      console.log(`${operation} with ${what} swapped:`, counts);
      expect(snapshot(outside)).toEqual(before);
      expect(counts.bugs).toBe(0);
      expect(Math.min(counts.done, counts.refused)).toBeGreaterThan(0);
      expect(leftoversIn(workspace)).toEqual([]);
    },
    600_000,
  );
});

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
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
  /** The last name is a link: what follows it is refused, what acts on the link itself is not. */
  const LINKS = ['file-out', 'out', 'dangling-out', 'loop', 'chain'];
  const FOLLOWING = new Set<keyof typeof operations>(['create', 'update', 'chmod']);

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
    '%s is refused where the way leads out',
    async (name) => {
      await using dir = await traps();
      const context = openContext(dir.path('ws'), mode);
      const before = snapshot(dir.root);
      for (const path of [...TRAPS, ...(FOLLOWING.has(name) ? LINKS : [])]) {
        expect([path, await outcome(operations[name](context, path))]).toEqual([path, 'refused']);
      }
      expect(snapshot(dir.root)).toEqual(before);
      await coder.close(context);
    },
  );

  test.each(['delete', 'deleteTree', 'renameFrom'] as const)('%s acts on a link itself', async (name) => {
    await using dir = await traps();
    const context = openContext(dir.path('ws'), mode);
    const outside = () => [...snapshot(dir.path('outside')), ...snapshot(dir.path('ws-evil'))];
    const before = outside();
    for (const path of LINKS) {
      expect([path, await outcome(operations[name](context, path))]).toEqual([path, 'done']);
      expect(lstatSync(dir.path(`ws/${path}`), { throwIfNoEntry: false })).toBeUndefined();
    }
    expect(outside()).toEqual(before);
    await coder.close(context);
  });
});
