/** A disk that is full before each step of a change: the files are old or new, and undo works when there is space again. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { openJail } from '#host';
import { rounds, tempDir } from '#testing';

interface Found {
  readonly steps: number;
  readonly old: number;
  readonly refused: number;
  readonly filledBefore: string[];
  readonly faults: string[];
}

const SCRIPT = fileURLToPath(new URL('full-disk.mjs', import.meta.url));

/** Mounts in a namespace of its own, so that nothing is left mounted. */
const MOUNT =
  'mount -t tmpfs -o size=256k,nr_inodes=64 tmpfs "$1" && mount -t tmpfs -o size=256k,nr_inodes=64 tmpfs "$2"';
const inSpace = (script: string, ...args: string[]) =>
  spawnSync('unshare', ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', ...args], { encoding: 'utf8' });

/** The exhausted resource: a disk can have room for bytes and none for names, and the other way round. */
const FULL = rounds(1, 3, 3) === 1 ? ['both'] : ['blocks', 'inodes', 'both'];

/** Two devices make the store copy the files that it links otherwise, which takes the most steps: that one is the smoke test. */
const PLACES = [
  { where: 'on two devices', second: 'two' },
  { where: 'on one device', second: 'one' },
];

test.for(PLACES.slice(0, rounds(1, 2, 2)))(
  'undo.B9 coder.P23 workspace and store $where, full before each step',
  { timeout: 120_000 },
  async ({ second }, { skip }) => {
    await using dir = await tempDir({ 'one/': '', 'two/': '' });
    const places = [dir.path('one'), dir.path('two')];
    if (inSpace(MOUNT, ...places).status !== 0) skip('mounting a small tmpfs needs root');

    const run = `${MOUNT} && first="$1" && shift 2 && exec "$1" "$2" "$first" "$3" $4`;
    const args = [...places, process.execPath, SCRIPT, dir.path(second), FULL.join(' ')];
    const { status, stdout, stderr } = inSpace(run, ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const found = JSON.parse(stdout) as Record<string, Found>;
    const sum = (field: 'steps' | 'refused') => Object.values(found).reduce((all, one) => all + one[field], 0);
    console.log(`full before each step, ${second}:`, { steps: sum('steps'), refused: sum('refused') });
    expect(Object.entries(found).flatMap(([what, { faults }]) => faults.map((fault) => `${what}: ${fault}`))).toEqual(
      [],
    );
    for (const { old, refused } of Object.values(found)) expect([old, refused]).not.toContain(0);
    // The before-image is linked without node:fs where that is possible.
    const filledBefore = Object.values(found).flatMap((one) => one.filledBefore);
    expect(filledBefore).toContain(openJail('/').opening === 'at-once' ? 'linkAt' : 'linkSync');
  },
);
