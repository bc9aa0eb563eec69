import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { failureOf, jailModes, run, type TempDir, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { openCoder } from '../worker.ts';
import { deleteFile } from './delete-file.ts';

const namesIn = (dir: TempDir, name: string) => readdirSync(dir.path(name), { recursive: true }).map(String).sort();

describe.each(jailModes())('%s jail', (_, way) => {
  const call = (dir: TempDir, payload: unknown) =>
    run(
      deleteFile,
      payload,
      { base_path: dir.path('ws'), fsync: way.mode === 'descriptor' },
      { open: (parsed, log) => openCoder(parsed as CoderConfig, log, undefined, way) },
    );
  const remove = async (dir: TempDir, path: string, options: object = {}) =>
    (await call(dir, { paths: [path], ...options })).results[0]!;

  test('coder.C85 coder.C86 coder.C106 a file goes, and is gone for later calls', async () => {
    await using dir = await tempDir({ 'ws/f': 'x' });
    expect(await call(dir, { paths: ['f', 'f', 'never', 'no/where'], _caller_worker_id: 'x' })).toEqual({
      results: [
        { path: 'f', success: true, removed: true },
        { path: 'f', success: true, removed: false },
        { path: 'never', success: true, removed: false },
        { path: 'no/where', success: true, removed: false },
      ],
    });
    expect(namesIn(dir, 'ws')).toEqual([]);
  });

  test('coder.C88 an empty folder goes without recursive, one with entries does not', async () => {
    await using dir = await tempDir({ 'ws/empty/': '', 'ws/full/x': '' });
    expect(await remove(dir, 'empty')).toMatchObject({ success: true, removed: true });
    expect(failureOf(await remove(dir, 'full'))).toMatchObject({ code: 'C216' });
    expect(namesIn(dir, 'ws')).toEqual(['full', 'full/x']);
  });

  test('a folder goes with everything in it, also names that are not text and more than fit in a batch', async () => {
    await using dir = await tempDir({ 'ws/d/pipe': { fifo: true }, 'ws/d/a/b/c/': '', 'ws/keep': '' });
    mkdirSync(Buffer.from(`${dir.path('ws/d/')}\xff\xfe`, 'latin1'));
    dir.add(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`ws/d/many/${i}`, ''])));
    expect(await remove(dir, 'd', { recursive: true })).toEqual({ path: 'd', success: true, removed: true });
    expect(namesIn(dir, 'ws')).toEqual(['keep']);
  });

  test('coder.C89 something protected below keeps the whole folder, and the answer names it from base_path', async () => {
    await using dir = await tempDir({ 'ws/d/a/1': '', 'ws/d/b/.env': 'TOKEN', 'ws/d/c': '' });
    const before = namesIn(dir, 'ws');
    const result = await remove(dir, 'd', { recursive: true });
    expect(result).toMatchObject({ success: false, removed: false });
    expect(failureOf(result)).toEqual({ code: 'C211', message: 'd/b/.env does not exist or is protected' });
    expect(namesIn(dir, 'ws')).toEqual(before);
  });

  test('coder.C91 a link itself is removed, whatever its target, and the target stays', async () => {
    await using dir = await tempDir({
      'outside/x': '',
      'ws/keep.txt': 'keep',
      'ws/folder/x': '',
      'ws/link': { symlink: 'keep.txt' },
      'ws/dirlink': { symlink: 'folder' },
      'ws/out': { symlink: '../outside' },
      'ws/dangling': { symlink: 'nothing' },
      'ws/loop': { symlink: 'loop' },
      'ws/self': { symlink: '.' },
    });
    const paths = ['link', 'dirlink', 'out', 'dangling', 'loop', 'self'];
    const { results } = await call(dir, { paths, recursive: true });
    expect(results).toEqual(paths.map((path) => ({ path, success: true, removed: true })));
    expect(namesIn(dir, '.')).toEqual(['outside', 'outside/x', 'ws', 'ws/folder', 'ws/folder/x', 'ws/keep.txt']);
  });

  test('coder.C92 links in a folder are not followed', async () => {
    await using dir = await tempDir({
      'outside/x': 'keep',
      'ws/d/out': { symlink: '../../outside' },
      'ws/d/file': { symlink: '../../outside/x' },
      'ws/d/up': { symlink: '..' },
      'ws/keep': '',
    });
    expect(await remove(dir, 'd', { recursive: true })).toMatchObject({ success: true, removed: true });
    expect(namesIn(dir, '.')).toEqual(['outside', 'outside/x', 'ws', 'ws/keep']);
  });

  test('a folder behind a link is found there', async () => {
    await using dir = await tempDir({ 'ws/real/d/x': '', 'ws/link': { symlink: 'real' } });
    expect(await remove(dir, 'link/d', { recursive: true })).toMatchObject({ removed: true });
    expect(namesIn(dir, 'ws')).toEqual(['link', 'real']);
  });

  test.each([
    ['base_path', '.', 'C210'],
    ['base_path, spelled long', 'd/../', 'C210'],
    ['a path that leaves', '../outside', 'C215'],
    ['an absolute path', '/tmp', 'C210'],
    ['behind a link to the outside', 'out/x', 'C215'],
    ['behind a dangling link', 'dangling/x', 'C215'],
    ['a protected file', '.env', 'C211'],
    ['a protected folder', 'secrets/folder', 'C211'],
  ])('%s: nothing is removed', async (_, path, code) => {
    await using dir = await tempDir({
      'ws/d/': '',
      'ws/.env': '',
      'ws/secrets/folder/': '',
      'ws/out': { symlink: '../outside' },
      'ws/dangling': { symlink: 'nothing' },
      'outside/x': '',
    });
    const before = namesIn(dir, '.');
    const result = await remove(dir, path, { recursive: true });
    expect(failureOf(result)).toMatchObject({ code });
    expect(result.error).not.toContain(dir.root);
    expect(namesIn(dir, '.')).toEqual(before);
  });

  test('expected_versions: removed at that version, else C221 with the request to send again', async () => {
    await using dir = await tempDir({ 'ws/a': 'a', 'ws/b': 'b', 'ws/folder/': '', 'ws/constructor': '' });
    const [a, b] = ['a', 'b'].map((text) => versionOf(Buffer.from(text)));
    const paths = ['a', 'b', 'folder', 'gone', 'constructor'];
    const { results } = await call(dir, { paths, expected_versions: { a, b: a, folder: a, gone: a } });
    expect(results.map((result) => (result.success ? result.removed : failureOf(result).code))).toEqual([
      true,
      'C221',
      'C210',
      false,
      true,
    ]);
    const { fix, ...failure } = failureOf(results[1]!);
    expect(failure).toMatchObject({ code: 'C221', version: b, region: { content: 'b' } });
    expect(fix).toEqual({ paths: ['b'], expected_versions: { b } });
    expect(readFileSync(dir.path('ws/b'), 'utf8')).toBe('b');
    expect(await call(dir, fix)).toMatchObject({ results: [{ removed: true }] });
  });

  test('an empty list fails the call', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    await expect(call(dir, { paths: [] })).rejects.toMatchObject({
      code: 'C210',
      message: '`paths` must not be empty',
    });
    expect(existsSync(dir.path('ws'))).toBe(true);
  });
});
