/**
 * Another process swaps a name inside the allowed path with a link that leads out, as fast as it can, while every action
 * of filesystem works through that name. Nothing from outside may be answered, and nothing outside may be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md says what the portable one leaves open.
 */
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';

import { describe, expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import { filesystem } from '#workers/filesystem';
import { tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';
import { leftoversIn, snapshot } from './jail-write-support.ts';

/** Each of the attacks below. */
const ROUNDS = process.env.WORKCELL_SOAK ? 16_000 : 600;

const FOLDER_ABOVE = ['a/b', 'a/evil'] as const;
const FILE_ITSELF = ['a/b/c/f.txt', 'a/b/c/evil'] as const;
const FOLDER_ITSELF = ['a/b/c', 'a/b/evil'] as const;
const IN_THE_TREE = ['a/b/c/tree/sub', 'a/b/c/tree/evil'] as const;

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
  writeFileSync(`${name}/sub/deep/x`, 'inside');
  symlinkSync(`${outside}/c/tree/sub`, `${name}/evil`);
  if (lstatSync(`${inside}/tree`, { throwIfNoEntry: false })) renameSync(`${inside}/tree`, `${inside}/old-${round}`);
  renameSync(name, `${inside}/tree`);
};

const makeTreeOnce: Prepare = (place, round) => {
  if (round < 0) makeTree(place, round);
};

const dropMoved: Prepare = ({ workspace }) => rmSync(`${workspace}/moved`, { recursive: true, force: true });

/** What replaces the file may have replaced the link instead, and mending it is raced too; the attack needs both. */
const makeLink: Prepare = ({ inside, outside }) => {
  const links = ['f.txt', 'evil'].filter((name) => lstatSync(`${inside}/${name}`).isSymbolicLink());
  if (links.length === 1) return;

  rmSync(`${inside}/evil`);
  if (links.length === 0) symlinkSync(`${outside}/c/f.txt`, `${inside}/evil`);
  else writeFileSync(`${inside}/evil`, 'inside', { flag: 'wx' });
};

const both =
  (first: Prepare, second: Prepare): Prepare =>
  (place, round) => {
    first(place, round);
    second(place, round);
  };

const FILE = 'a/b/c/f.txt';
const FOLDER = 'a/b/c';
const TREE = 'a/b/c/tree';
const fresh = (round: number) => `a/b/c/new-${round}`;
const freshDeep = (round: number) => `a/b/c/deep-${round}/x/y`;

type Payload = (round: number) => object;

const write =
  (path: (round: number) => string): Payload =>
  (round) => ({
    path: path(round),
    content: `${Math.random()}`,
    create_dirs: true,
  });
const toggle: Payload = (round) =>
  round % 2 === 0
    ? { path: FILE, old_string: 'inside', new_string: 'edited' }
    : { path: FILE, old_string: 'edited', new_string: 'inside' };

describe.skipIf(process.platform !== 'linux')('a name that is swapped for a link out', () => {
  test.each<[string, string, readonly [string, string], Payload, Prepare]>([
    ['read', 'a folder above', FOLDER_ABOVE, () => ({ path: FILE }), nothing],
    ['read', 'the file', FILE_ITSELF, () => ({ path: FILE }), nothing],
    ['file_stat', 'a folder above', FOLDER_ABOVE, () => ({ path: `${FOLDER}/only-inside` }), nothing],
    ['ls', 'a folder above', FOLDER_ABOVE, () => ({ path: FOLDER }), nothing],
    ['ls', 'the folder', FOLDER_ITSELF, () => ({ path: FOLDER }), nothing],
    ['ls', 'a folder below', FOLDER_ABOVE, () => ({ path: 'a', recursive: true }), nothing],
    ['find', 'a folder above', FOLDER_ABOVE, () => ({ path: FOLDER, pattern: '*' }), nothing],
    ['find', 'a folder below', FOLDER_ABOVE, () => ({ path: '.', pattern: '*' }), nothing],
    ['grep', 'a folder above', FOLDER_ABOVE, () => ({ path: FOLDER, pattern: 'e' }), nothing],
    ['grep', 'the file', FILE_ITSELF, () => ({ path: FILE, pattern: '[eE]' }), nothing],
    ['grep', 'a folder below', FOLDER_ABOVE, () => ({ path: 'a', pattern: 'S.CRET|inside' }), nothing],
    ['write', 'a folder above', FOLDER_ABOVE, write(fresh), nothing],
    ['write', 'a folder above what is missing', FOLDER_ABOVE, write(freshDeep), nothing],
    ['write', 'the file', FILE_ITSELF, write(() => FILE), makeLink],
    ['edit', 'a folder above', FOLDER_ABOVE, toggle, nothing],
    ['edit', 'the file', FILE_ITSELF, toggle, makeLink],
    ['mkdir', 'a folder above', FOLDER_ABOVE, (round) => ({ path: freshDeep(round) }), nothing],
    [
      'mv',
      'a folder above the source',
      FOLDER_ABOVE,
      () => ({ source: FILE, destination: 'moved' }),
      both(makeFile, dropMoved),
    ],
    [
      'mv',
      'a folder above the destination',
      FOLDER_ABOVE,
      (round) => ({ source: 'plain', destination: fresh(round) }),
      makePlain,
    ],
    ['cp', 'a folder above the source', FOLDER_ABOVE, () => ({ source: FILE, destination: 'moved' }), dropMoved],
    ['cp', 'the source', FILE_ITSELF, () => ({ source: FILE, destination: 'moved' }), dropMoved],
    [
      'cp',
      'a folder above the destination',
      FOLDER_ABOVE,
      (round) => ({ source: 'plain', destination: fresh(round) }),
      makePlain,
    ],
    [
      'cp',
      'a folder in the tree',
      IN_THE_TREE,
      () => ({ source: TREE, destination: 'moved' }),
      both(makeTreeOnce, dropMoved),
    ],
    [
      'cp',
      'a folder above the copy of a tree',
      FOLDER_ABOVE,
      (round) => ({ source: 'some', destination: fresh(round) }),
      nothing,
    ],
    ['rm', 'a folder above', FOLDER_ABOVE, () => ({ path: FILE }), makeFile],
    ['rm', 'a folder above the tree', FOLDER_ABOVE, () => ({ path: TREE, recursive: true }), makeTree],
    ['rm', 'a folder in the tree', IN_THE_TREE, () => ({ path: TREE, recursive: true }), makeTree],
  ])(
    '%s with %s swapped',
    async (action, what, swap, payload, prepare) => {
      await using dir = await tempDir({
        'ws/a/b/c/f.txt': 'inside',
        'ws/a/b/c/only-inside': '',
        'ws/some/x/y': 'inside',
        'ws/plain': 'inside',
        'outside/c/f.txt': { mode: 0o600, content: 'SECRET inside edited e' },
        'outside/c/SECRET': 'SECRET e',
        'outside/c/tree/sub/deep/SECRET': 'SECRET',
      });
      const [workspace, outside] = [dir.path('ws'), dir.path('outside')];
      dir.add({
        'ws/a/evil': { symlink: outside },
        'ws/a/b/evil': { symlink: `${outside}/c` },
        'ws/a/b/c/evil': { symlink: `${outside}/c/f.txt` },
      });
      const before = snapshot(outside);

      const call = await openCaller(workspace, action);
      const fd = openSync(dir.path('ws/a/b/c'), 'r');
      const place = { inside: `/proc/self/fd/${fd}`, outside, workspace };
      const counts = { done: 0, refused: 0, leaked: 0, bugs: 0 };
      const isMet = () => counts.done > 0 && counts.refused > 0;
      // What is listed or copied as a whole succeeds with either side of the swap.
      const mayNotRefuse = /below|in the tree/.test(what);
      prepare(place, -1);
      await whileSwapping(dir.path('exchange'), [`${workspace}/${swap[0]}`, `${workspace}/${swap[1]}`], async () => {
        for (let round = 0; round < ROUNDS || (round < 10 * ROUNDS && !isMet() && !mayNotRefuse); round++) {
          prepare(place, round);
          counts[await call(payload(round))]++;
        }
      });
      closeSync(fd);

      console.log(`filesystem::${action} with ${what} swapped:`, counts);
      expect(snapshot(outside)).toEqual(before);
      expect([counts.leaked, counts.bugs]).toEqual([0, 0]);
      expect(counts.done).toBeGreaterThan(0);
      if (!mayNotRefuse) expect(counts.refused).toBeGreaterThan(0);
      expect(leftoversIn(workspace)).toEqual([]);
    },
    600_000,
  );
});

/** Calls an action as the bus would. A copy of what is outside would be a leak too, so what was made is looked at. */
async function openCaller(workspace: string, action: string) {
  const config = parseConfig(filesystem.config, { paths: [workspace], fsync: false }, 'filesystem');
  const context = await filesystem.open(config, silentLog);
  const fn = filesystem.functions.find(({ id }) => id === `filesystem::${action}`)!;
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  return async (payload: object): Promise<'done' | 'refused' | 'leaked' | 'bugs'> => {
    const reply = await answer({ def: filesystem, context }, fn, { callId: '1', payload }, surroundings);
    const text = JSON.stringify('result' in reply ? reply.result : reply.error);
    if (text.includes('SECRET') || holdsSecret(`${workspace}/moved`)) return 'leaked';
    if (!('result' in reply) || text.includes('internal error')) return 'bugs';
    return (reply.result as { success: boolean }).success ? 'done' : 'refused';
  };
}

function holdsSecret(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return readFileSync(path, 'utf8').includes('SECRET');
  return stat?.isDirectory() === true && snapshot(path).some((line) => line.includes('SECRET'));
}
