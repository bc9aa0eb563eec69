import { existsSync, linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { failureOf, jailModes, run, type TempDir, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { openCoder } from '../worker.ts';
import { createFile } from './create-file.ts';

const text = (dir: TempDir, name: string) => readFileSync(dir.path(name), 'utf8');
const modeOf = (dir: TempDir, name: string) => statSync(dir.path(name)).mode & 0o7777;

describe.each(jailModes())('%s jail', (_, way) => {
  const call = (dir: TempDir, payload: unknown) =>
    run(
      createFile,
      payload,
      { base_path: dir.path('ws'), max_write_bytes: 4096, fsync: way.mode === 'descriptor' },
      { open: (parsed, log) => openCoder(parsed as CoderConfig, log, undefined, way) },
    );
  const create = async (dir: TempDir, path: string, item: object = {}) => {
    const { results } = await call(dir, { files: [{ path, content: 'new', ...item }] });
    return results[0]!;
  };

  test('coder.C71 coder.C106 parents are made, and the mode is 0644 under any umask', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    const umask = process.umask(0o077);
    try {
      const payload = { files: [{ path: 'a/b/c.txt', content: 'hé' }], _caller_worker_id: 'x' };
      expect(await call(dir, payload)).toEqual({
        results: [{ path: 'a/b/c.txt', success: true, bytes_written: 3, version: versionOf(Buffer.from('hé')) }],
      });
    } finally {
      process.umask(umask);
    }
    expect([text(dir, 'ws/a/b/c.txt'), modeOf(dir, 'ws/a/b/c.txt')]).toEqual(['hé', 0o644]);
    expect(readdirSync(dir.path('ws'), { recursive: true })).toEqual(['a', 'a/b', 'a/b/c.txt']);
  });

  test('coder.C73 a file that exists is C217, and replaced when the request says so', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'old' });
    expect(failureOf(await create(dir, 'a.txt'))).toEqual({
      code: 'C217',
      message: 'a.txt already exists; send overwrite: true to replace it',
    });
    expect(text(dir, 'ws/a.txt')).toBe('old');
    expect(await create(dir, 'a.txt', { overwrite: true })).toMatchObject({ success: true, bytes_written: 3 });
    expect(text(dir, 'ws/a.txt')).toBe('new');
  });

  test('only a regular file has the advice to overwrite it, and a limit names its key', async () => {
    await using dir = await tempDir({ 'ws/folder/x': '', 'ws/a.txt': 'a' });
    const messageOf = async (...request: Parameters<typeof create>) => failureOf(await create(...request)).message;
    expect(await messageOf(dir, 'folder')).toBe('folder already exists');
    expect(await messageOf(dir, 'a.txt/x')).toBe('a.txt already exists');
    expect(await messageOf(dir, 'new', { content: 'x'.repeat(4097) })).toContain('the limit is 4096 (max_write_bytes)');
  });

  test('coder.C74 a replaced file keeps its mode unless one is given', async () => {
    await using dir = await tempDir({ 'ws/run.sh': { mode: 0o755, content: 'old' } });
    expect(await create(dir, 'run.sh', { overwrite: true })).toMatchObject({ success: true });
    expect(modeOf(dir, 'ws/run.sh')).toBe(0o755);
    expect(await create(dir, 'run.sh', { overwrite: true, mode: '0600' })).toMatchObject({ success: true });
    expect(modeOf(dir, 'ws/run.sh')).toBe(0o600);
  });

  test.each([
    ['coder.C76 a path that leaves', '../x', {}, 'C215'],
    ['coder.C76 an absolute path', '/x', {}, 'C210'],
    ['coder.C77 too much content', 'x', { content: 'x'.repeat(4097) }, 'C213'],
    ['coder.C80 a missing folder without parents', 'no/x', { parents: false }, 'C211'],
    ['coder.C82 a folder', 'folder', { overwrite: true }, 'C216'],
    ['a folder, not to be overwritten', 'folder', {}, 'C217'],
    ['a FIFO', 'pipe', { overwrite: true }, 'C216'],
    ['base_path', '.', { overwrite: true }, 'C216'],
    ['a protected file', '.env', { overwrite: true }, 'C211'],
    ['a protected name', 'secrets/new', {}, 'C211'],
    ['a protected name behind a link', 'vault/new', {}, 'C211'],
    ['below a file', 'a.txt/x', {}, 'C217'],
    ['below a file without parents', 'a.txt/x', { parents: false }, 'C216'],
    ['far below a file', 'a.txt/x/y', {}, 'C216'],
    ['a dangling link', 'dangling', { overwrite: true }, 'C215'],
    ['below a dangling link', 'dangling/x/y', {}, 'C215'],
    ['a link to the outside', 'out.txt', { overwrite: true }, 'C215'],
    ['a dangling link to the outside', 'dangling-out', {}, 'C215'],
    ['folders to be made behind a link to the outside', 'out/a/b/c', {}, 'C215'],
    ['a link to itself', 'loop', { overwrite: true }, 'C215'],
    ['a sibling whose name begins the same', '../ws-evil/x', {}, 'C215'],
    ['a name that is too long', 'n'.repeat(300), {}, 'C216'],
    ['a folder name that is too long', `${'n'.repeat(300)}/x`, {}, 'C216'],
    ['a name with NUL', 'a\0b', {}, 'C216'],
    ['a mode without digits', 'x', { mode: 'rwx' }, 'C210'],
    ['a mode of five digits', 'x', { mode: '10644' }, 'C210'],
    ['an empty mode', 'a.txt', { mode: '', overwrite: true }, 'C210'],
  ])('%s: the item fails and nothing is made or changed anywhere', async (_, path, item, code) => {
    await using dir = await tempDir({
      'ws/folder/x': '',
      'ws/secrets/': '',
      'ws/vault': { symlink: 'secrets' },
      'ws/.env': 'TOKEN',
      'ws/pipe': { fifo: true },
      'ws/a.txt': 'old',
      'ws/dangling': { symlink: 'nothing' },
      'ws/out.txt': { symlink: '../outside/a.txt' },
      'ws/out': { symlink: '../outside' },
      'ws/dangling-out': { symlink: '../outside/nothing' },
      'ws/loop': { symlink: 'loop' },
      'outside/a.txt': 'old',
      'ws-evil/': '',
    });
    const before = snapshot(dir);
    const result = await create(dir, path, item);
    expect(result).toEqual({ path, success: false, bytes_written: 0, error: expect.any(String) });
    expect(failureOf(result)).toMatchObject({ code });
    expect(result.error).not.toContain(dir.root);
    expect(snapshot(dir)).toEqual(before);
  });

  test('links inside are followed: to the file, and on the way', async () => {
    await using dir = await tempDir({
      'ws/real/a.txt': 'old',
      'ws/link': { symlink: 'real/a.txt' },
      'ws/dirlink': { symlink: 'real' },
    });
    expect(await create(dir, 'link', { overwrite: true })).toMatchObject({ success: true });
    expect(await create(dir, 'dirlink/sub/b.txt')).toMatchObject({ success: true });
    expect([text(dir, 'ws/real/a.txt'), text(dir, 'ws/real/sub/b.txt')]).toEqual(['new', 'new']);
    expect(lstatSync(dir.path('ws/link')).isSymbolicLink()).toBe(true);
  });

  test('a hard link gets its own content', async () => {
    await using dir = await tempDir({ 'outside.txt': 'old', 'ws/': '' });
    linkSync(dir.path('outside.txt'), dir.path('ws/hard.txt'));
    expect(await create(dir, 'hard.txt', { overwrite: true })).toMatchObject({ success: true });
    expect([text(dir, 'outside.txt'), text(dir, 'ws/hard.txt')]).toEqual(['old', 'new']);
  });

  test.each([
    ['coder.C79', '600', 0o600],
    ['coder.C79', '0600', 0o600],
    ['digits after 0o', '0o640', 0o640],
    ['no bits at all', '0000', 0],
    ['special bits are left out', '4755', 0o755],
  ])('%s mode %s', async (_, given, expected) => {
    await using dir = await tempDir({ 'ws/': '' });
    expect(await create(dir, 'a', { mode: given })).toMatchObject({ success: true });
    expect(modeOf(dir, 'ws/a')).toBe(expected);
  });

  test('coder.C83 an empty list fails the call', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    await expect(call(dir, { files: [] })).rejects.toMatchObject({
      code: 'C210',
      message: '`files` must not be empty',
    });
  });

  test('one that fails stops no other', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    const { results } = await call(dir, {
      files: [
        { path: '../x', content: '' },
        { path: 'a', content: '1' },
        { path: 'a', content: '2' },
        { path: 'a', content: '3', overwrite: true },
      ],
    });
    expect(results.map((result) => (result.success ? 'ok' : failureOf(result).code))).toEqual([
      'C215',
      'ok',
      'C217',
      'ok',
    ]);
    expect(text(dir, 'ws/a')).toBe('3');
  });

  test('the same content again is not written', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'new' });
    utimesSync(dir.path('ws/a.txt'), 1, 1);
    const before = statSync(dir.path('ws/a.txt'));
    expect(await create(dir, 'a.txt', { overwrite: true })).toMatchObject({ success: true, bytes_written: 3 });
    const after = statSync(dir.path('ws/a.txt'));
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  });

  test('expected_version: replaced at that version, else C221 with the request to send again', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'old' });
    const version = versionOf(Buffer.from('old'));
    const item = { overwrite: true, expected_version: 'sha256:0' };
    const failure = failureOf(await create(dir, 'a.txt', item));
    expect(failure).toEqual({
      code: 'C221',
      message: `a.txt is at version ${version}; the request expects sha256:0: read the file again`,
      version,
      region: { from_line: 1, to_line: 1, content: 'old' },
      fix: { files: [{ path: 'a.txt', content: 'new', parents: true, overwrite: true, expected_version: version }] },
    });
    expect(await call(dir, failure.fix)).toMatchObject({ results: [{ success: true }] });
    expect(failureOf(await create(dir, 'missing', item))).toMatchObject({ code: 'C211' });
    expect(existsSync(dir.path('ws/missing'))).toBe(false);
  });

  test('of many that create one file, one does', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    symlinkSync('.', dir.path('ws/self'));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => create(dir, `${'self/'.repeat(i % 3)}deep/er/a`, { content: `${i}` })),
    );
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect(text(dir, 'ws/deep/er/a')).toBe(`${results.findIndex(({ success }) => success)}`);
    expect(readdirSync(dir.path('ws/deep/er'))).toEqual(['a']);
  });
});

/** Every name with its kind and content. */
function snapshot(dir: TempDir): string[] {
  return readdirSync(dir.root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      return `${path} ${lstatSync(path).mode} ${entry.isFile() ? readFileSync(path, 'utf8') : ''}`;
    })
    .sort();
}
