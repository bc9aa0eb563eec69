import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds, tempDir } from '#testing';
import { HostError } from '../host-error.ts';
import { openAtOnceWithin } from './jail-open.ts';
import { openAbsoluteJail, openJail, type Jail, type JailOpening } from './jail.ts';
import { realPath } from './pin-by-path.ts';
import { boundsOf } from './pin.ts';
import { systemCalls, type SystemCalls } from '../system/system-calls.ts';

const calls = systemCalls() ?? ({} as SystemCalls);

/** Opens paths below a directory at once; `protected` is protected. */
function openerOn(root: string, by = calls) {
  const openAtOnce = openAtOnceWithin(boundsOf(realPath(root), [realPath(root)]), () => by);
  const isClosed = (path: string) => path === 'protected';
  return (path: string) => {
    using file = openAtOnce({ parts: path.split('/'), path, isClosed });
    return file && [file.relativePath, readFileSync(file.fd, 'utf8')];
  };
}

describe.skipIf(!systemCalls())('opening at once', () => {
  test('opens a file without symlinks in its path, and returns undefined for everything else', async () => {
    await using dir = await tempDir({
      'a/f.txt': 'f',
      'a/ß': 's',
      'a/\uFFFD': 'unspeakable',
      protected: 'p',
      pipe: { fifo: true },
      'a/link': { symlink: 'f.txt' },
      'a/same': { symlink: '.' },
    });
    const open = openerOn(dir.root);
    const opened = ['a/f.txt', 'a/ß', 'a/\uFFFD', 'a/\uD800'].map(open);
    const left = ['protected', 'pipe', 'a', 'a/link', 'a/same/f.txt', 'missing', 'a/f.txt/x', 'n'.repeat(300)].map(
      open,
    );
    expect(opened).toEqual([
      ['a/f.txt', 'f'],
      ['a/ß', 's'],
      ['a/\uFFFD', 'unspeakable'],
      ['a/\uFFFD', 'unspeakable'],
    ]);
    expect(left).toEqual(left.map(() => undefined));
  });

  test('closes a FIFO, folder or symlink that replaced the file after its stat', async () => {
    await using dir = await tempDir({ pipe: { fifo: true }, 'folder/': '', 'f.txt': 'f', link: { symlink: 'f.txt' } });
    const open = openerOn(dir.root, { ...calls, isRegularFile: () => true });
    const before = readdirSync('/proc/self/fd').length;
    expect(['pipe', 'folder', 'link', 'missing'].map(open)).toEqual(Array(4).fill(undefined));
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  test('does not stat protected or outside paths', async () => {
    await using dir = await tempDir({ 'ws/protected': '' });
    const looks: string[] = [];
    const isRegularFile = (path: string) => looks.push(path) < 0;
    const open = openerOn(dir.path('ws'), { ...calls, isRegularFile });
    expect([open('protected'), open('other')]).toEqual([undefined, undefined]);
    expect(looks).toEqual([dir.path('ws/other')]);

    const bounds = boundsOf(realPath('/'), [realPath(dir.path('ws'))]);
    const openAtOnce = openAtOnceWithin(bounds, () => ({ ...calls, isRegularFile }));
    const parts = `${dir.root}/other`.slice(1).split('/');
    expect(openAtOnce({ parts, path: '', isClosed: () => false })).toBeUndefined();
    expect(looks).toEqual([dir.path('ws/other')]);
  });

  // Few names, so that trees and paths often meet.
  const names = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', 'b') }, fc.constantFrom('ß', '.env'));
  const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const steps = fc.oneof({ weight: 9, arbitrary: names }, fc.constantFrom('.', '..', '', '\uD800', 'x', 'a\0'));
  const ways = fc.array(steps, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  const targets = fc.constantFrom('.', '..', 'a', 'b', '../a', '../b', 'a/b', '../ws/a', '../../outside', '/etc');
  const entries = fc.oneof(
    fc.record({ path: paths, content: fc.constantFrom('1', '2') }),
    fc.record({ path: paths, target: targets }),
  );

  test('at-once and after-finding give equal outcomes for random trees and paths', async () => {
    await using dir = await tempDir({ 'outside/a': 'SECRET', 'outside/b/c': 'SECRET' });
    let runs = 0;
    fc.assert(
      fc.property(
        fc.array(entries, { maxLength: 12 }),
        fc.array(fc.oneof(ways, paths), { minLength: 1, maxLength: 10 }),
        (tree, asked) => {
          const root = dir.path(`${runs++}/ws`);
          mkdirSync(root, { recursive: true });
          for (const entry of tree) attempt(() => make(`${root}/${entry.path}`, entry));
          const files = [...asked, ...tree.map(({ path }) => path)];

          const outcomes = (opening: JailOpening) => {
            const isClosed = (path: string) => /(^|\/)\.env$/.test(path);
            const jail = openJail(root, { opening, isProtected: isClosed });
            const absolute = openAbsoluteJail([`${root}`, dir.path('outside/b')], { opening, isProtected: isClosed });
            return files.flatMap((path) => [
              [path, outcome(jail, path)],
              [path, outcome(absolute, `${root}/${path}`)],
              [path, outcome(absolute, `${root}/../../outside/${path}`)],
            ]);
          };
          expect(outcomes('at-once')).toEqual(outcomes('after-finding'));
        },
      ),
      { numRuns: rounds(100, 100, 1000) },
    );
  }, 60_000);
});

function make(path: string, entry: { content: string } | { target: string }): void {
  mkdirSync(dirname(path), { recursive: true });
  if ('content' in entry) writeFileSync(path, entry.content, { flag: 'wx' });
  else symlinkSync(entry.target, path);
}

/** An entry of a tree may conflict with another. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
  }
}

function outcome(jail: Jail, path: string): unknown {
  try {
    using file = jail.open(path);
    const { ino, size, mode } = file.stat;
    return { opens: file.relativePath, content: readFileSync(file.fd, 'utf8'), ino, size, mode };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [error.reason, error.message];
  }
}
