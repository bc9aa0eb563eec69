/**
 * A directory from a hostile guest: whatever archive it sends, nothing is written outside the new directory, nothing
 * in it points outside, and a refused one leaves nothing behind.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { tarArchive, type TestEntry } from '../../../src/testing/images/tar-archive.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { unpackTree } from '#workers/sandbox';

const dir = (name: string): TestEntry => ({ name, flag: '5', mode: 0o755 });
const symlink = (name: string, linkName: string): TestEntry => ({ name, flag: '2', linkName });
const hardlink = (name: string, linkName: string): TestEntry => ({ name, flag: '1', linkName });
const file = (name: string): TestEntry => ({ name, content: 'evil' });

/** The whole archive is refused. */
const REFUSED: [string, TestEntry[]][] = [
  ['a name that goes up', [file('../evil')]],
  ['a name that goes down and up', [file('a/../../evil')]],
  ['an absolute name', [file('/tmp/evil')]],
  ['a directory that goes up', [dir('../evil')]],
  ['a name in a pax header that goes up', [{ name: 'x', content: 'evil', pax: { path: '../evil' } }]],
  ['an absolute name in a pax header', [{ name: 'x', content: 'evil', pax: { path: '/tmp/evil' } }]],
  ['a symlink whose own name goes up', [symlink('../evil', 'secret')]],
  ['a hard link to an absolute path', [hardlink('evil', '/etc/passwd')]],
  ['a hard link to what lies above', [hardlink('evil', '../outside/secret')]],
  ['a hard link in a pax header', [{ name: 'evil', flag: '1', linkName: 'x', pax: { linkpath: '../outside/secret' } }]],
  ['a circle of symlinks as a parent', [symlink('a', 'b'), symlink('b', 'a'), file('a/evil')]],
  ['a file as a parent', [file('a'), file('a/b')]],
  ['an archive that ends in the middle', [{ name: 'x', content: 'evil', size: 10_000 }]],
  ['a file larger than all that may come', [{ name: 'x', size: 6 * 2 ** 30 }]],
  ['a path deeper than any', [{ name: 'x', content: '', pax: { path: 'd/'.repeat(200) + 'x' } }]],
];

/** Entries that point outside are skipped; the rest is unpacked. */
const LEFT_OUT: [string, TestEntry[]][] = [
  ['an absolute symlink', [symlink('evil', '/etc/passwd')]],
  ['a symlink that goes up', [symlink('evil', '../outside/secret')]],
  ['a symlink to the parent', [symlink('evil', '..')]],
  ['a symlink with noise in it', [symlink('evil', './/./../outside')]],
  ['a symlink one too many up', [dir('a'), symlink('a/evil', '../../outside/secret')]],
  ['a symlink up through a name', [dir('a'), symlink('evil', 'a/../../outside')]],
  ['a symlink in a pax header', [{ name: 'evil', flag: '2', linkName: 'x', pax: { linkpath: '/etc/passwd' } }]],
  ['a symlink and a file through it', [symlink('evil', '../outside'), file('evil/planted')]],
  ['an absolute symlink and a file through it', [symlink('evil', '/tmp'), file('evil/planted')]],
  [
    'two symlinks that add up to the way out',
    [dir('a'), dir('a/b'), symlink('a/b/up', '../..'), symlink('evil', 'a/b/up/../outside')],
  ],
  [
    'a symlink that is short by its parent',
    [dir('a'), dir('a/b'), symlink('s', 'a/b'), symlink('s/evil', '../../../outside')],
  ],
  [
    'a parent that looks deeper than it is',
    [symlink('s', '.'), symlink('s/s/evil', '../outside'), symlink('s/s/s/evil2', '../../outside')],
  ],
  [
    'another name for a symlink, higher up',
    [dir('a'), dir('a/b'), symlink('a/b/up', '../..'), hardlink('evil', 'a/b/up')],
  ],
  ['a device', [{ name: 'evil', flag: '3' }]],
  ['a FIFO', [{ name: 'evil', flag: '6' }]],
  ['a root that is a file', [{ name: '.', content: 'evil' }]],
  ['a root that is a symlink', [symlink('.', '../outside')]],
];

const OUTSIDE = { 'outside/': '', 'outside/secret': 'secret' };

/** Every escape in the directory: names that resolve outside it. */
function waysOut(root: string, at = root): string[] {
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const path = join(at, entry.name);
    if (entry.isDirectory()) return waysOut(root, path);
    if (!entry.isSymbolicLink()) return [];
    try {
      return `${realpathSync(path)}/`.startsWith(`${root}/`) ? [] : [path];
    } catch {
      return readlinkSync(path).startsWith('/') ? [path] : [];
    }
  });
}

async function* bytesOf(entries: TestEntry[]): AsyncGenerator<Uint8Array> {
  yield tarArchive(entries);
}

describe('nothing gets out', () => {
  let attacks = 0;

  test.each(REFUSED)('%s is refused, and nothing is left', async (_, entries) => {
    await using lab = await tempDir(OUTSIDE);
    await expect(unpackTree(bytesOf([file('good'), ...entries]), lab.path('new'))).rejects.toThrow();
    expect(readdirSync(lab.root)).toEqual(['outside']);
    expect(readdirSync(lab.path('outside'))).toEqual(['secret']);
    attacks++;
  });

  test.each(LEFT_OUT)('%s is left out', async (_, entries) => {
    await using lab = await tempDir(OUTSIDE);
    const { leftOut } = await unpackTree(bytesOf([dir('good'), ...entries, file('last')]), lab.path('new'));
    expect(leftOut.count).toBeGreaterThan(0);
    expect(waysOut(realpathSync(lab.path('new')))).toEqual([]);
    expect(readdirSync(lab.root).toSorted()).toEqual(['new', 'outside']);
    expect(readdirSync(lab.path('outside'))).toEqual(['secret']);
    expect(readFileSync(lab.path('outside/secret'), 'utf8')).toBe('secret');
    expect(readFileSync(lab.path('new/last'), 'utf8')).toBe('evil');
    attacks++;
  });

  test('32 attacks were made', () => {
    expect(attacks).toBe(REFUSED.length + LEFT_OUT.length);
    expect(attacks).toBe(32);
  });
});

test('existing files are not replaced, and no file is setuid or of another owner', async () => {
  await using lab = await tempDir(OUTSIDE);
  await expect(unpackTree(bytesOf([file('x')]), lab.path('outside'))).rejects.toThrow('ENOTEMPTY');
  expect(readdirSync(lab.path('outside'))).toEqual(['secret']);

  mkdirSync(lab.path('empty'));
  writeFileSync(lab.path('mine'), '');
  await unpackTree(bytesOf([{ name: 'su', content: 'x', mode: 0o6755, uid: 4242, gid: 4242 }]), lab.path('empty'));
  const { mode, uid, gid } = statSync(lab.path('empty/su'));
  const mine = statSync(lab.path('mine'));
  expect({ mode: mode & 0o7777, uid, gid }).toEqual({ mode: 0o755, uid: mine.uid, gid: mine.gid });
});
