/**
 * Every action of filesystem on every path that resolves outside the allowed paths, both ends of mv and cp: refused,
 * nothing outside is reported, and nothing outside is touched. In both jails.
 */
import { describe, expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import type { JailMode } from '#host';
import { tempDir, type TempDir } from '#testing';
import { filesystem } from '#workers/filesystem';
import { openFilesystem } from '../../../src/workers/filesystem/worker.ts';
import { snapshot } from './jail-write-support.ts';

/** Paths to the outside, from the first allowed path; `$` is the folder around everything. */
const TRAPS = [
  '../outside/f.txt',
  '../outside/new.txt',
  '../ws-evil/f.txt', // a sibling whose name begins the same
  '$/ws-evil/f.txt',
  '$/ws/../outside/f.txt',
  '$/outside/./f.txt',
  '/etc/passwd',
  'out/f.txt',
  'out/no/such/new.txt', // missing folders behind a link
  'chain/f.txt', // a link to a link
  'folder/out/f.txt',
  'inner/out/f.txt',
  'out/../ws-evil/f.txt', // .. applies to the target of the link
  'second/f.txt', // a link from one allowed path through another to outside
  '$/second/leak/f.txt',
];

/** The last name is a symlink: operations that follow it are refused, operations on the symlink itself are not. */
const LINKS = ['file-out', 'out', 'chain'];

const FOLLOWING: Record<string, (path: string) => object> = {
  read: (path) => ({ path }),
  write: (path) => ({ path, content: 'owned', create_dirs: true }),
  edit: (path) => ({ path, old_string: 'SECRET', new_string: 'owned' }),
  insert: (path) => ({ path, line: 1, content: 'owned' }),
  ls: (path) => ({ path }),
  grep: (path) => ({ path, pattern: 'S.CRET' }),
  find: (path) => ({ path, pattern: '*' }),
  mkdir: (path) => ({ path }),
  'cp from': (path) => ({ source: path, destination: 'stolen', overwrite: true }),
  'cp to': (path) => ({ source: 'plain', destination: path, overwrite: true }),
  'cp a tree to': (path) => ({ source: 'folder', destination: path, overwrite: true }),
};
const ON_THE_LINK: Record<string, (path: string) => object> = {
  rm: (path) => ({ path, recursive: true }),
  file_stat: (path) => ({ path }),
  'mv from': (path) => ({ source: path, destination: 'stolen', overwrite: true }),
  'mv to': (path) => ({ source: 'plain', destination: path, overwrite: true }),
};

const layout = () =>
  tempDir({
    'ws/plain': 'inside',
    'ws/folder/x': 'inside',
    'ws/out': { symlink: '../outside' },
    'ws/chain': { symlink: 'out' },
    'ws/inner': { symlink: 'folder' },
    'ws/folder/out': { symlink: '../../outside' },
    'ws/file-out': { symlink: '../outside/f.txt' },
    'ws/second': { symlink: '../second/leak' },
    'second/leak': { symlink: '../outside' },
    'outside/f.txt': 'SECRET',
    'ws-evil/f.txt': 'SECRET',
  });

async function call(dir: TempDir, mode: JailMode, action: string, payload: object) {
  const config = { paths: [dir.path('ws'), dir.path('second')], fsync: false };
  const context = openFilesystem(parseConfig(filesystem.config, config, 'filesystem'), silentLog, undefined, mode);
  try {
    const fn = filesystem.functions.find(({ id }) => id === `filesystem::${action.split(' ')[0]}`)!;
    const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
    return await answer({ def: filesystem, context }, fn, { callId: '1', payload }, surroundings);
  } finally {
    await filesystem.close(context);
  }
}

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  test.each(Object.entries({ ...FOLLOWING, ...ON_THE_LINK }))(
    'filesystem.P2 %s is refused on every way out',
    async (action, payload) => {
      await using dir = await layout();
      const before = snapshot(dir.root);
      for (const trap of [...TRAPS, ...(action in FOLLOWING ? LINKS : [])]) {
        const path = trap.replace('$', dir.root);
        const reply = await call(dir, mode, action, payload(path));
        expect([trap, reply]).toEqual([
          trap,
          {
            result: {
              success: false,
              error: expect.stringMatching(/^Path '\/.*' is outside allowed paths$/),
              metadata: { code: 'F215' },
            },
          },
        ]);
        expect(JSON.stringify(reply)).not.toContain('SECRET');
      }
      expect(snapshot(dir.root)).toEqual(before);
    },
  );

  test.each(Object.entries(ON_THE_LINK))('%s acts on a link itself', async (action, payload) => {
    await using dir = await layout();
    const outside = () => [...snapshot(dir.path('outside')), ...snapshot(dir.path('ws-evil'))];
    const before = outside();
    for (const link of LINKS) {
      dir.add({ 'ws/plain': 'inside' });
      expect(await call(dir, mode, action, payload(link))).toMatchObject({ result: { success: true } });
    }
    expect(outside()).toEqual(before);
  });

  test('a walk lists links, and nothing behind them', async () => {
    await using dir = await layout();
    for (const [action, payload] of [
      ['ls', { recursive: true, include_hidden: true }],
      ['find', { pattern: '*' }],
      ['grep', { pattern: 'S.CRET' }],
    ] as const) {
      const reply = await call(dir, mode, action, payload);
      expect(reply).toMatchObject({ result: { success: true } });
      expect(JSON.stringify(reply)).not.toMatch(/SECRET|f\.txt"/);
    }
  });
});
