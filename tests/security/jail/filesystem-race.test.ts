/**
 * Another process swaps a name inside the allowed path with a symlink to the outside, as fast as it can, while every action
 * of filesystem works through that name. Nothing from outside may be returned, and nothing outside may be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { lstatSync, readFileSync, rmSync } from 'node:fs';

import { describe, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import { rounds } from '#testing';
import { filesystem } from '#workers/filesystem';
import {
  FILE_ITSELF,
  FOLDER_ABOVE,
  FOLDER_ITSELF,
  IN_THE_TREE,
  makeFile,
  makeLink,
  makePlain,
  makeTree,
  makeTreeOnce,
  nothing,
  race,
  racePlace,
  type Prepare,
  type RaceOutcome,
  type Swap,
} from './jail-race.ts';
import { snapshot } from './jail-write-support.ts';

/** Each of the attacks below. */
const ROUNDS = rounds(75, 600, 16_000);

const dropMoved: Prepare = ({ workspace }) => rmSync(`${workspace}/moved`, { recursive: true, force: true });

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

describe.skipIf(process.platform !== 'linux')('filesystem.P3 a name that is swapped for a link out', () => {
  test.each<[string, string, Swap, Payload, Prepare]>([
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
      await using place = await racePlace();
      const call = await openCaller(place.workspace, action);
      const title = `filesystem::${action} with ${what}`;
      const mayNotRefuse = /below|in the tree/.test(what);
      await race(place, { title, swap, prepare, rounds: ROUNDS, mayNotRefuse }, (round) => call(payload(round)));
    },
    600_000,
  );
});

/** Calls an action as the bus would. A copy of an outside file would be a leak too, so its output is read. */
async function openCaller(workspace: string, action: string) {
  const config = parseConfig(filesystem.config, { paths: [workspace], fsync: false }, 'filesystem');
  const context = await filesystem.open(config, silentLog);
  const fn = filesystem.functions.find(({ id }) => id === `filesystem::${action}`)!;
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  return async (payload: object): Promise<RaceOutcome> => {
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
