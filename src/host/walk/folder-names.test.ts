import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds, tempDir } from '#testing';
import { FolderNames } from './folder-names.ts';
import { openJail, type Jail } from '../jail/jail.ts';

const never = { signal: new AbortController().signal };
const SMALLEST = 40;
const HUGE = 50;
const TMPFS = 0x01021994;

async function hugeFolder() {
  const names = Array.from({ length: HUGE }, (_, i) => [`f${(i * 7) % HUGE}`, '']);
  return tempDir(Object.fromEntries(names));
}

/** Counts the listings behind its results. */
class CountedFolder {
  readings = 0;
  readonly #jail: Jail;
  readonly #names: FolderNames;

  constructor(root: string, names = new FolderNames(SMALLEST), mode?: 'descriptor' | 'portable') {
    this.#jail = openJail(root, { mode });
    this.#names = names;
  }

  async slice(from: number, to: number, { type = TMPFS, ctimeMs }: { type?: number; ctimeMs?: number } = {}) {
    using dir = this.#jail.openDir('.');
    const { stat } = dir;
    const counted = {
      stat: { dev: stat.dev, ino: stat.ino, mtimeMs: stat.mtimeMs, ctimeMs: ctimeMs ?? stat.ctimeMs },
      fileSystemType: () => type,
      names: () => {
        this.readings += 1;
        return dir.names();
      },
    };
    return await this.#names.slice(counted, { from, to }, never);
  }
}

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  test('coder.P5 the next pages of a huge folder need no reading, until it changes', async () => {
    await using dir = await hugeFolder();
    const sorted = readdirSync(dir.root).toSorted();
    const folder = new CountedFolder(dir.root, new FolderNames(SMALLEST), mode);
    await delay(60);

    expect(await folder.slice(0, 2)).toEqual({ names: sorted.slice(0, 2), total: HUGE });
    expect(await folder.slice(2, 4)).toEqual({ names: sorted.slice(2, 4), total: HUGE });
    expect(await folder.slice(30, 40)).toEqual({ names: sorted.slice(30, 40), total: HUGE });
    expect(folder.readings).toBe(1);

    // Beyond the names of the first listing, once; then all names are cached.
    expect(await folder.slice(39, 42)).toEqual({ names: sorted.slice(39, 42), total: HUGE });
    expect(await folder.slice(HUGE - 5, HUGE + 5)).toEqual({ names: sorted.slice(-5), total: HUGE });
    expect(await folder.slice(900, 910)).toEqual({ names: [], total: HUGE });
    expect(folder.readings).toBe(2);

    unlinkSync(dir.path(sorted[0]!));
    expect(await folder.slice(0, 2)).toEqual({ names: sorted.slice(1, 3), total: HUGE - 1 });
    expect(folder.readings).toBe(3);
  });
});

test('what is read right after a change is not kept', async () => {
  await using dir = await hugeFolder();
  const folder = new CountedFolder(dir.root);
  const ctimeMs = Date.now() + 60_000;
  await folder.slice(0, 10, { ctimeMs });
  await folder.slice(0, 10, { ctimeMs });
  expect(folder.readings).toBe(2);
});

test('nothing is kept of a small folder, nor on a file system that does not touch its directories', async () => {
  await using small = await tempDir({ a: '' });
  await using huge = await hugeFolder();
  await delay(60);
  const PROC = 0x9fa0;
  for (const { folder, type } of [
    { folder: new CountedFolder(small.root), type: TMPFS },
    { folder: new CountedFolder(huge.root), type: PROC },
  ]) {
    await folder.slice(0, 10, { type });
    await folder.slice(0, 10, { type });
    expect(folder.readings).toBe(2);
  }
});

test('another folder in the same place is another folder', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  const names = new FolderNames(SMALLEST);
  for (const letter of ['a', 'b']) {
    mkdirSync(dir.path(letter));
    for (let i = 0; i < HUGE; i++) writeFileSync(dir.path(`${letter}/${letter}${i}`), '');
  }
  await delay(60);
  for (const letter of ['a', 'b']) {
    rmdirSync(dir.path('ws'));
    renameSync(dir.path(letter), dir.path('ws'));
    const folder = new CountedFolder(dir.path('ws'), names);
    expect((await folder.slice(0, 1)).names).toEqual([`${letter}0`]);
    renameSync(dir.path('ws'), dir.path(letter));
    mkdirSync(dir.path('ws'));
  }
});

test('coder.P5 whatever comes and goes between two calls, each answer is that of the moment', async () => {
  await using dir = await hugeFolder();
  const names = new FolderNames(SMALLEST);
  const folder = new CountedFolder(dir.root, names);
  const present = new Set(readdirSync(dir.root));
  const change = fc.record({ name: fc.nat(60), from: fc.nat(HUGE), waitMs: fc.constantFrom(0, 0, 0, 1, 4, 60) });
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      for (const { name, from, waitMs } of changes) {
        const file = `f${name}${name % 3 === 0 ? '-new' : ''}`;
        if (present.delete(file)) unlinkSync(dir.path(file));
        else writeFileSync(dir.path(present.add(file) && file), '');

        for (const at of [from, 0]) {
          if (waitMs > 0) await delay(waitMs);
          const expected = { names: [...present].toSorted().slice(at, at + 5), total: present.size };
          expect(await folder.slice(at, at + 5)).toEqual(expected);
          calls += 1;
        }
      }
    }),
    { numRuns: rounds(15, 60, 600) },
  );
  expect(folder.readings).toBeLessThan(calls);
}, 60_000);
