/**
 * coder.C109 for the two ways in which the jail opens a file for reading and for writing: with the calls of an
 * optional package, and by finding it first. A name is swapped for a symlink to the outside; nothing outside may be read,
 * and nothing outside may notice an attempt.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { HostError, openJail, type Jail, type JailFile } from '#host';
import { jailModes, rounds, tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';

const ROUNDS = rounds(2_500, 20_000, 20_000);

const OPENERS = {
  read: (jail: Jail, path: string) => jail.open(path),
  change(jail: Jail, path: string) {
    using target = jail.target(path);
    return target.open();
  },
};
const CASES = jailModes('descriptor').flatMap(([title, way]) =>
  Object.entries(OPENERS).map(([purpose, open]) => [`${title}, to ${purpose}`, way, open] as const),
);

describe.skipIf(process.platform !== 'linux').each(CASES)('coder.P1 coder.C109 %s', (title, way, open) => {
  test.each([
    ['the folder above', 'ws/a/b', 'ws/a/evil', 'outside/a/b'],
    ['the file itself', 'ws/a/b/c/f.txt', 'ws/a/b/c/evil', 'outside/a/b/c/f.txt'],
    ['the root', 'ws', 'evil', 'outside'],
  ])(
    '%s is swapped for a link out, and nothing outside is read',
    async (what, name, link, target) => {
      await using dir = await tempDir({ 'ws/a/b/c/f.txt': 'inside', 'outside/a/b/c/f.txt': 'SECRET' });
      dir.add({ [link]: { symlink: dir.path(target) } });
      const jail = openJail(dir.path('ws'), way);
      expect(jail.opening).toBe(way.opening);

      const counts = await whileSwapping([dir.path(name), dir.path(link)], async () =>
        hammer(() => open(jail, 'a/b/c/f.txt')),
      );
      console.log(`${title}, ${what} swapped:`, counts);
      expect(counts).toEqual({ inside: expect.any(Number), refused: expect.any(Number), leaked: 0 });
      expect(Math.min(counts.inside, counts.refused)).toBeGreaterThan(0);
    },
    60_000,
  );

  test('a file is swapped for a link to a FIFO outside, and its writer still waits', async () => {
    await using dir = await tempDir({ 'ws/f.txt': 'inside', 'ws/evil': { symlink: '../pipe' }, pipe: { fifo: true } });
    const jail = openJail(dir.path('ws'), way);
    const writer = spawn('sh', ['-c', 'echo opening; exec echo x > "$0"', dir.path('pipe')]);
    await once(writer.stdout, 'data');

    const counts = await whileSwapping([dir.path('ws/f.txt'), dir.path('ws/evil')], async () =>
      hammer(() => open(jail, 'f.txt')),
    );
    expect(counts.leaked).toBe(0);
    expect(Math.min(counts.inside, counts.refused)).toBeGreaterThan(0);
    expect(writer.exitCode).toBeNull();
    // A real reader finds the writer still there.
    expect(execFileSync('cat', [dir.path('pipe')], { timeout: 30_000 }).toString()).toBe('x\n');
  }, 60_000);
});

/** Opens ROUNDS times, and on until both sides of the swap were met. */
function hammer(open: () => JailFile) {
  const counts = { inside: 0, refused: 0, leaked: 0 };
  const isMet = () => counts.inside > 0 && counts.refused > 0;
  const content = Buffer.alloc(6);
  for (let round = 0; round < ROUNDS || (round < 50 * ROUNDS && !isMet()); round++) {
    try {
      using file = open();
      readSync(file.fd, content, 0, 6, 0);
      counts[content.toString() === 'inside' ? 'inside' : 'leaked']++;
    } catch (error) {
      if (!(error instanceof HostError && ['escape', 'missing', 'dangling'].includes(error.reason))) throw error;
      counts.refused++;
    }
  }
  return counts;
}
