import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test, vi } from 'vitest';

import { NOBODY_UID, rounds, tempDir } from '#testing';
import { HostError } from '../host-error.ts';
import { HostFileSystem } from './host-file-system.ts';
import { describeFileSystem } from './file-system.contract.ts';

const scope = { signal: new AbortController().signal };
const FOLDERS = rounds(5, 20, 20);

for (const mode of ['descriptor', 'portable'] as const) {
  describeFileSystem(`the files of this host, ${mode}`, async () => {
    const dir = await tempDir();
    const files = new HostFileSystem({ roots: [dir.root], protect: [], deniedPaths: [], mode, isSynced: false });
    return {
      files,
      root: dir.root,
      link: async (linkTarget, path) => symlinkSync(linkTarget, path),
      async [Symbol.asyncDispose]() {
        await files.close();
        await dir[Symbol.asyncDispose]();
      },
    };
  });
}

/** Counts the turns of the event loop until it is stopped. */
function countTurns(): { (): number; stop(): number } {
  let count = 0;
  let next = setImmediate(turn);
  function turn(): void {
    count++;
    next = setImmediate(turn);
  }
  const stop = () => {
    clearImmediate(next);
    return count;
  };
  return Object.assign(() => count, { stop });
}

/** Runs the work without the rights of root, which then cannot read descriptors: only for the portable jail. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY_UID);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

const BUILT = fileURLToPath(new URL('../../../dist/host/index.js', import.meta.url));

describe('files without permission', () => {
  const setUp = async () => {
    const dir = await tempDir({ 'ws/a': 'x', 'ws/b': 'x', 'ws/tree/closed/sub/f': 'x', 'ws/z': 'x' });
    if (process.getuid?.() === 0) {
      for (const path of ['', ...readdirSync(dir.root, { recursive: true }).map(String)])
        chownSync(dir.path(path), NOBODY_UID, NOBODY_UID);
    }
    chmodSync(dir.path('ws/b'), 0);
    chmodSync(dir.path('ws/tree/closed'), 0);
    const files = new HostFileSystem({
      roots: [dir.path('ws')],
      protect: [],
      deniedPaths: [],
      mode: 'portable',
      isSynced: false,
    });
    return { dir, files };
  };

  test('shell.F44 are reported by grep, which searches the others', async () => {
    const { dir, files } = await setUp();
    const query = { pattern: 'x', ignoreCase: false, maxMatches: 9, maxLineBytes: 9 };
    const below = { recursive: true, includeGlobs: [], excludeGlobs: [] };
    await asNobody(async () => {
      const { matches, skipped } = await files.grep({ path: dir.path('ws'), ...query, ...below }, scope);
      expect(matches.map(({ path }) => path)).toEqual([dir.path('ws/a'), dir.path('ws/z')]);
      expect(skipped).toEqual([
        { path: dir.path('ws/b'), reason: 'denied' },
        { path: dir.path('ws/tree/closed'), reason: 'denied' },
      ]);
    });
    await files.close();
    await dir[Symbol.asyncDispose]();
  });

  test('are opened and closed again by chmod, parents first or last as needed', async ({ skip }) => {
    const { dir } = await setUp();
    const isRoot = process.getuid?.() === 0;
    const run = (script: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script, BUILT, dir.path('ws')], {
        ...(isRoot && { uid: NOBODY_UID, gid: NOBODY_UID }),
        cwd: '/',
        encoding: 'utf8',
      });
    if (run('await import(process.argv[1])').status !== 0) skip('only root reaches the build');

    const { stdout, stderr } = run(`
      const { HostFileSystem } = await import(process.argv[1]);
      const [root, tree] = [process.argv[2], process.argv[2] + '/tree'];
      const files = new HostFileSystem({ roots: [root], protect: [], deniedPaths: [], isSynced: false });
      const scope = { signal: new AbortController().signal };
      const chmod = (mode) => files.chmod(tree, { mode, recursive: true }, scope);
      const refused = (work) => work.then(() => 'done', ({ reason }) => reason);
      const found = [files.jail.mode, await chmod(0o750), await chmod(0)];
      found.push(await refused(files.ls(tree, scope)), await refused(files.rm(tree, { recursive: true }, scope)));
      found.push(await chmod(0o700), await refused(files.rm(tree, { recursive: true }, scope)));
      console.log(JSON.stringify(found));
      await files.close();
    `);
    expect([stdout.trim(), stderr]).toEqual([JSON.stringify(['descriptor', 4, 4, 'denied', 'denied', 4, 'done']), '']);
    expect(readdirSync(dir.path('ws'))).toEqual(['a', 'b', 'z']);
    await dir[Symbol.asyncDispose]();
  });
});

describe.each(['descriptor', 'portable'] as const)('%s', (mode) => {
  test('several roots form one jail, and each is searched separately', async () => {
    await using dir = await tempDir({
      'one/f': 'x',
      'one/inner/f': 'x',
      'two/f': 'x',
      'between/f': 'x',
      'one/to-two': { symlink: '../two/f' },
    });
    const roots = ['one', 'one/inner', 'two'].map(dir.path);
    const files = new HostFileSystem({ roots, protect: [], deniedPaths: [], mode, isSynced: false });
    const grep = async (path: string) => {
      const query = { pattern: 'x', ignoreCase: false, maxMatches: 9, maxLineBytes: 9 };
      const below = { recursive: true, includeGlobs: [], excludeGlobs: [] };
      const { matches } = await files.grep({ path: dir.path(path), ...query, ...below }, scope);
      return matches.map((match) => match.path);
    };
    expect(await grep('one')).toEqual([dir.path('one/f'), dir.path('one/inner/f')]);
    expect(await grep('one/inner')).toEqual([dir.path('one/inner/f')]);
    expect(await grep('one/to-two')).toEqual([dir.path('two/f')]);
    await expect(grep('between')).rejects.toThrow(HostError);
    await files.mv(dir.path('one/f'), dir.path('two/g'), { overwrite: false }, scope);
    expect(readdirSync(dir.path('two'))).toEqual(['f', 'g']);
    for (const root of roots) {
      await expect(files.rm(root, { recursive: true }, scope)).rejects.toMatchObject({ reason: 'root' });
    }
    await files.close();
  });

  test('shell.P14 chmod and rm of a tree of many files yield in turns', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    for (let folder = 0; folder < FOLDERS; folder++) {
      mkdirSync(dir.path(`ws/tree/${folder}`), { recursive: true });
      for (let file = 0; file < 200; file++) writeFileSync(dir.path(`ws/tree/${folder}/${file}`), '');
    }
    const files = new HostFileSystem({ roots: [dir.path('ws')], protect: [], deniedPaths: [], mode, isSynced: false });
    const tree = dir.path('ws/tree');
    // A millisecond passes whenever it is read: how often the work yields depends on its steps, not on the machine.
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++);
    const turns = countTurns();
    expect(await files.chmod(tree, { mode: 0o700, recursive: true }, scope)).toBe(1 + FOLDERS * 201);
    const chmodTurns = turns();
    await files.rm(tree, { recursive: true }, scope);
    const rmTurns = turns.stop() - chmodTurns;
    clock.mockRestore();
    await files.close();
    expect(readdirSync(dir.path('ws'))).toEqual([]);
    expect(Math.min(chmodTurns, rmTurns)).toBeGreaterThan(FOLDERS * 20);
  });

  test('a listing stops at maxListed and reports that it is truncated', async () => {
    await using dir = await tempDir({ 'ws/c': '', 'ws/a': '', 'ws/b': '' });
    const listed = async (maxListed: number) => {
      const files = new HostFileSystem({ roots: [dir.root], protect: [], deniedPaths: [], mode, maxListed });
      const { entries, isTruncated } = await files.ls(dir.path('ws'), scope);
      await files.close();
      return [entries.map(({ name }) => name), isTruncated];
    };
    expect([await listed(2), await listed(3)]).toEqual([
      [['a', 'b'], true],
      [['a', 'b', 'c'], false],
    ]);
  });

  test('an aborted write stops and keeps the old file', async () => {
    await using dir = await tempDir({ 'ws/f': 'x' });
    const files = new HostFileSystem({ roots: [dir.path('ws')], protect: [], deniedPaths: [], mode, isSynced: false });
    const given = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let count = 0; ; count++) {
        if (count === 3) given.abort(new Error('enough'));
        yield Buffer.from('x');
      }
    }
    const writing = files.write(dir.path('ws/f'), endless(), { parents: false }, { signal: given.signal });
    await expect(writing).rejects.toThrow('enough');
    expect([readFileSync(dir.path('ws/f'), 'utf8'), readdirSync(dir.path('ws'))]).toEqual(['x', ['f']]);
    await files.close();
  });

  test('aborting the signal stops a pattern that takes seconds', async () => {
    await using dir = await tempDir({ 'ws/f': 'A'.repeat(100_000) });
    const files = new HostFileSystem({ roots: [dir.path('ws')], protect: [], deniedPaths: [], mode, isSynced: false });
    const given = new AbortController();
    const request = { pattern: '.*[^A-Z]|[A-Z]', replacement: 'x', isRegex: true, firstOnly: false, ignoreCase: false };
    const editing = files.sed({ ...request, where: { files: [dir.path('ws/f')] } }, given);
    setTimeout(() => given.abort(new Error('enough')), 300);
    await expect(editing).rejects.toThrow('enough');
    expect(readFileSync(dir.path('ws/f'), 'utf8')).not.toContain('x');
    await files.close();
  });

  test('a file that shrinks while it is read fails', async () => {
    await using dir = await tempDir({ 'ws/f': '' });
    truncateSync(dir.path('ws/f'), 1_000_000);
    const files = new HostFileSystem({ roots: [dir.path('ws')], protect: [], deniedPaths: [], mode, isSynced: false });
    const file = await files.read(dir.path('ws/f'));
    truncateSync(dir.path('ws/f'), 10);
    const reading = (async () => {
      for await (const piece of file.bytes) expect(piece.length).toBe(10);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'io' });
    file.close();
    await files.close();
  });
});
