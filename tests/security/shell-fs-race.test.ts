/**
 * F03 under attack: another process swaps a name inside with a link that leads out, as fast as it can, while all ten
 * file operations work through that name. Nothing from outside may be told, and nothing there may be touched.
 *
 * Only the descriptor jail makes this promise; SECURITY.md says what the portable one leaves open.
 */
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { Bus, CallScope } from '#contract';
import { silentLog } from '#contract';
import * as fileFunctions from '#file-functions';
import { FileFault, HostError, HostFileSystem } from '#host';
import { tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';
import { leftoversIn, snapshot } from './jail-write-support.ts';

/** Of each of the attacks below. */
const ROUNDS = process.env.WORKCELL_SOAK ? 16_000 : 600;

const FOLDER_ABOVE = ['a/b', 'a/evil'] as const;
const FILE_ITSELF = ['a/b/c/f.txt', 'a/b/c/evil'] as const;
const FOLDER_ITSELF = ['a/b/c', 'a/b/evil'] as const;
const FOLDER_BELOW = ['a/b/c/tree/sub', 'a/b/c/tree/evil'] as const;

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

/** What replaces the file may have replaced the link instead, and mending it is raced too; the attack needs both. */
const makeLink: Prepare = ({ inside, outside }) => {
  const links = ['f.txt', 'evil'].filter((name) => lstatSync(`${inside}/${name}`).isSymbolicLink());
  if (links.length === 1) return;

  rmSync(`${inside}/evil`);
  if (links.length === 0) symlinkSync(`${outside}/c/f.txt`, `${inside}/evil`);
  else writeFileSync(`${inside}/evil`, 'inside', { flag: 'wx' });
};

const file = '/a/b/c/f.txt';
const folder = '/a/b/c';
const tree = '/a/b/c/tree';

/** A request for each round. */
type Attack = (root: string, round: number) => [keyof typeof operations, Record<string, unknown>];
const { OpenReads, ...operations } = fileFunctions;

const attacks: [string, readonly [string, string], Attack, Prepare][] = [
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
  ['rm, a folder in the tree', FOLDER_BELOW, (root) => ['rm', { path: root + tree, recursive: true }], makeTree],
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
    FOLDER_BELOW,
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

/** What is found when the folder is swapped is found under its other name. */
const NEVER_REFUSED = new Set(['grep, a folder below']);

describe.skipIf(process.platform !== 'linux')('a name that is swapped for a link out', () => {
  test.each(attacks)(
    '%s',
    async (what, swap, attack, prepare) => {
      await using dir = await tempDir({
        'ws/a/b/c/f.txt': 'inside',
        'outside/c/f.txt': { mode: 0o600, content: 'SECRET and longer than what is inside' },
        'outside/c/SECRET': '',
        'outside/c/tree/sub/keep': 'SECRET',
      });
      const [workspace, outside] = [dir.path('ws'), dir.path('outside')];
      dir.add({
        'ws/a/evil': { symlink: outside },
        'ws/a/b/evil': { symlink: `${outside}/c` },
        'ws/a/b/c/evil': { symlink: `${outside}/c/f.txt` },
      });
      const before = snapshot(outside);

      const files = new HostFileSystem({ roots: [workspace], deniedPaths: [], isSynced: false });
      const fd = openSync(dir.path('ws/a/b/c'), 'r');
      const place = { inside: `/proc/self/fd/${fd}`, outside, workspace };
      const counts = { done: 0, refused: 0, leaked: 0 };
      prepare(place, -1);
      await whileSwapping(dir.path('exchange'), [`${workspace}/${swap[0]}`, `${workspace}/${swap[1]}`], async () => {
        const isMet = () => counts.done > 0 && (counts.refused > 0 || NEVER_REFUSED.has(what));
        for (let round = 0; round < ROUNDS || (round < 10 * ROUNDS && !isMet()); round++) {
          prepare(place, round);
          const [name, request] = attack(workspace, round);
          counts[await outcome(name, request, files)]++;
        }
      });
      closeSync(fd);
      await files.close();

      console.log(`shell::fs, ${what} swapped:`, counts);
      expect(snapshot(outside)).toEqual(before);
      expect(counts.leaked).toBe(0);
      expect(counts.done).toBeGreaterThan(0);
      if (!NEVER_REFUSED.has(what)) expect(counts.refused).toBeGreaterThan(0);
      expect(leftoversIn(workspace)).toEqual([]);
    },
    600_000,
  );
});

/** Throws what is neither an answer nor a refusal: a bug. */
async function outcome(
  name: keyof typeof operations,
  payload: object,
  files: HostFileSystem,
): Promise<'done' | 'refused' | 'leaked'> {
  const sent: Buffer[] = [];
  const bus = collecting(sent);
  const operation = operations[name] as fileFunctions.FileOperation;
  const openReads = new OpenReads();
  const context = { files, maxReadBytes: Infinity, maxWriteBytes: Infinity, idleMs: 1000, openReads };
  const scope: CallScope = { callId: '1', signal: new AbortController().signal, bus, log: silentLog };
  try {
    const reply = await operation.handle(operation.request.parse(payload), context, scope);
    while (openReads.count > 0) await new Promise(setImmediate);
    const told = JSON.stringify(reply) + Buffer.concat(sent).toString();
    // Nothing but the file outside has this size.
    if (/SECRET|"size":37\b/.test(told)) return 'leaked';
    return told.includes('"success":false') ? 'refused' : 'done';
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
