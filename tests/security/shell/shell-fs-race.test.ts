/**
 * Another process swaps a name inside with a symlink to the outside, as fast as it can, while all file operations work
 * through that name. Nothing from outside may be returned, and nothing there may be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md lists the gaps of the portable one.
 */
import { describe, test } from 'vitest';

import type { Bus, CallScope } from '#contract';
import { rounds } from '#testing';
import { silentLog } from '#contract';
import * as fileFunctions from '#file-functions';
import { FileFault, HostError, HostFileSystem } from '#host';
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
  OUTSIDE_TEXT,
  race,
  racePlace,
  type Prepare,
  type RaceOutcome,
  type Swap,
} from '../jail/jail-race.ts';

/** Of each of the attacks below. */
const ROUNDS = rounds(75, 600, 16_000);

const file = '/a/b/c/f.txt';
const folder = '/a/b/c';
const tree = '/a/b/c/tree';

/** The text outside, or its size. */
const LEAK = new RegExp(`SECRET|"size":${OUTSIDE_TEXT.length}\\b`);

/** A request for each round. */
type Attack = (root: string, round: number) => [keyof typeof operations, Record<string, unknown>];
const { OpenReads, ...operations } = fileFunctions;

const attacks: [string, Swap, Attack, Prepare][] = [
  ['ls, a folder above', FOLDER_ABOVE, (root) => ['ls', { path: root + folder }], nothing],
  ['ls, the folder', FOLDER_ITSELF, (root) => ['ls', { path: root + folder }], nothing],
  ['stat, a folder above', FOLDER_ABOVE, (root) => ['stat', { path: root + file }], nothing],
  ['stat, the file', FILE_ITSELF, (root) => ['stat', { path: root + file }], nothing],
  ['read, a folder above', FOLDER_ABOVE, (root) => ['read', { path: root + file }], nothing],
  ['read, the file', FILE_ITSELF, (root) => ['read', { path: root + file }], nothing],
  [
    'write, a folder above',
    FOLDER_ABOVE,
    (root, n) => ['write', { path: `${root}${folder}/new-${n}`, content: 'x' }],
    nothing,
  ],
  [
    'write, a folder above what is missing',
    FOLDER_ABOVE,
    (root, n) => ['write', { path: `${root}${folder}/d-${n}/x/y`, content: 'x', parents: true }],
    nothing,
  ],
  ['write, the file', FILE_ITSELF, (root, n) => ['write', { path: root + file, content: `${n}` }], makeLink],
  [
    'mkdir, a folder above',
    FOLDER_ABOVE,
    (root, n) => ['mkdir', { path: `${root}${folder}/d-${n}/x`, parents: true }],
    nothing,
  ],
  ['rm, a folder above', FOLDER_ABOVE, (root) => ['rm', { path: root + file }], makeFile],
  ['rm, the tree above', FOLDER_ABOVE, (root) => ['rm', { path: root + tree, recursive: true }], makeTree],
  ['rm, a folder in the tree', IN_THE_TREE, (root) => ['rm', { path: root + tree, recursive: true }], makeTree],
  [
    'chmod, the file',
    FILE_ITSELF,
    (root, n) => ['chmod', { path: root + file, mode: n % 2 ? '0600' : '0644' }],
    nothing,
  ],
  [
    'chmod, a folder above the tree',
    FOLDER_ABOVE,
    (root, n) => ['chmod', { path: root + tree, mode: n % 2 ? '0700' : '0755', recursive: true }],
    makeTreeOnce,
  ],
  [
    'chmod, a folder in the tree',
    IN_THE_TREE,
    (root, n) => ['chmod', { path: root + tree, mode: n % 2 ? '0700' : '0755', recursive: true }],
    makeTreeOnce,
  ],
  [
    'mv from, a folder above',
    FOLDER_ABOVE,
    (root) => ['mv', { src: root + file, dst: `${root}/moved`, overwrite: true }],
    makeFile,
  ],
  [
    'mv to, a folder above',
    FOLDER_ABOVE,
    (root, n) => ['mv', { src: `${root}/plain`, dst: `${root}${folder}/m-${n}` }],
    makePlain,
  ],
  ['grep, a folder below', FOLDER_ABOVE, (root) => ['grep', { path: root, pattern: 'S.CRET|inside' }], nothing],
  ['grep, the folder', FOLDER_ITSELF, (root) => ['grep', { path: root + folder, pattern: 'S.CRET|inside' }], nothing],
  ['grep, the file', FILE_ITSELF, (root) => ['grep', { path: root + file, pattern: 'S.CRET|inside' }], nothing],
  [
    'sed, a folder above',
    FOLDER_ABOVE,
    (root, n) => ['sed', { files: [root + file], pattern: '^', replacement: `${n % 10}` }],
    (place, round) => round % 50 === 0 && makeFile(place, round),
  ],
  [
    'sed, the file',
    FILE_ITSELF,
    (root) => ['sed', { files: [root + file], pattern: '^.', replacement: 'i' }],
    makeLink,
  ],
  [
    'sed, a folder below',
    FOLDER_ABOVE,
    (root) => ['sed', { path: `${root}/a`, pattern: '^.', replacement: 'i', include_glob: ['f.txt'] }],
    nothing,
  ],
];

/** Hits while the folder is swapped are found under its other name. */
const NEVER_REFUSED = new Set(['grep, a folder below']);

describe.skipIf(process.platform !== 'linux')('shell.P10 shell.F03 a name that is swapped for a link out', () => {
  test.each(attacks)(
    '%s',
    async (what, swap, attack, prepare) => {
      await using place = await racePlace();
      const files = new HostFileSystem({ roots: [place.workspace], protect: [], deniedPaths: [], isSynced: false });
      const title = `shell::fs, ${what}`;
      const mayNotRefuse = NEVER_REFUSED.has(what);
      await race(place, { title, swap, prepare, rounds: ROUNDS, mayNotRefuse }, (round) =>
        outcome(...attack(place.workspace, round), files),
      );
      await files.close();
    },
    600_000,
  );
});

/** Throws if the outcome is neither an answer nor a refusal: a bug. */
async function outcome(name: keyof typeof operations, payload: object, files: HostFileSystem): Promise<RaceOutcome> {
  const sent: Buffer[] = [];
  const bus = collecting(sent);
  const operation = operations[name] as fileFunctions.FileOperation;
  const openReads = new OpenReads();
  const context = { files, maxReadBytes: Infinity, maxWriteBytes: Infinity, idleMs: 1000, openReads };
  const { signal } = new AbortController();
  const scope: CallScope = {
    call: { callId: '1', payload },
    functionId: 'shell::fs::sed',
    signal,
    throwIfAborted: () => {},
    bus,
    log: silentLog,
  };
  try {
    const reply = await operation.handle(operation.request.parse(payload), context, scope);
    while (openReads.count > 0) await new Promise(setImmediate);
    const reported = JSON.stringify(reply) + Buffer.concat(sent).toString();
    if (LEAK.test(reported)) return 'leaked';
    return reported.includes('"success":false') ? 'refused' : 'done';
  } catch (error) {
    if (error instanceof HostError || error instanceof FileFault) return 'refused';
    throw error;
  }
}

/** A bus whose channels end here. */
function collecting(sent: Buffer[]): Bus {
  const none = () => Promise.reject(new Error('not in this test'));
  const ref = { channel_id: 'x', access_key: 'x' };
  return {
    call: none,
    openReader: none,
    createChannel: async () => ({ writer: { ...ref, direction: 'write' }, reader: { ...ref, direction: 'read' } }),
    openWriter: async () => ({
      write: async (item) => void sent.push(Buffer.from(item)),
      end: async () => {},
      abort: () => {},
    }),
  };
}
