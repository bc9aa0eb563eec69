/**
 * Protected files through every file function of every worker: read, change, list, search, copy, move and guess.
 *
 * The attacks run in a process of their own, as the user of the tests and, if that is root, as an ordinary user too.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, test, vi } from 'vitest';

import { isFull, NOBODY_UID, rounds, serveWorker, tempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';
import { whileSwapping } from '../jail/jail-swapper.ts';

vi.setConfig({ testTimeout: 240_000 });

const ATTACKER = fileURLToPath(new URL('protected-attacker.mjs', import.meta.url));
const isRoot = process.geteuid?.() === 0;
const ROUNDS = rounds(100, 1500, 1500);
const ONE_IN = rounds(12, 1, 1);

interface Outcome {
  attacks: number;
  leaks: unknown[];
  differences: unknown[];
}

describe.each([
  ['the current user', undefined],
  ['an ordinary user', NOBODY_UID],
])('as %s', (_, uid) => {
  test.runIf(uid === undefined || (isFull && isRoot))('http.P8 no file function reaches a protected file', async () => {
    await using dir = await tempDir();
    if (uid !== undefined) {
      chmodSync(dir.root, 0o755);
      execFileSync('chown', ['-R', `${uid}:${uid}`, dir.root]);
    }
    const user = uid === undefined ? {} : { uid, gid: uid };
    const run = promisify(execFile)(process.execPath, [ATTACKER, dir.root, `${ONE_IN}`], {
      ...user,
      cwd: '/',
      // Where this user can write, so that there is a journal.
      env: { ...process.env, XDG_STATE_HOME: dir.path('state') },
      maxBuffer: 2 ** 28,
    });
    const outcome = JSON.parse((await run).stdout) as Outcome;
    console.log(`${outcome.attacks} attacks, ${outcome.leaks.length} leaks, ${outcome.differences.length} differences`);
    expect(outcome).toEqual({
      attacks: expect.any(Number) as number,
      leaks: [],
      differences: [],
      changes: [],
      created: [],
      copied: ['main.txt'],
      ordinary: [3, 3],
    });
    expect(outcome.attacks).toBeGreaterThan(6000 / ONE_IN);
  });
});

describe.runIf(process.platform === 'linux')('while names are swapped', () => {
  test.each([
    ['a file for a link to a protected one', 'f', 'evil', '.env'],
    ['a folder for a link to a protected one', 'd', 'evil', 'secrets'],
  ])('%s, nothing protected is read', async (_, name, link, target) => {
    await using dir = await tempDir({
      'ws/f': 'inside',
      'ws/d/f': 'inside',
      'ws/secrets/f': 'SECRET',
      'ws/.env': 'SECRET',
      'ws/evil': { symlink: target },
    });
    const root = dir.path('ws');
    const path = name === 'd' ? 'd/f' : 'f';
    await using one = await serveWorker(coder, { base_path: root });
    await using two = await serveWorker(shell, { fs: { host_root: root } });
    await using three = await serveWorker(filesystem, { paths: [root] });
    const tries = [
      () => one.call('coder::read-file', { path }),
      () => two.call('shell::fs::grep', { path: `${root}/${path}`, pattern: '.*' }),
      () => two.call('shell::fs::grep', { path: root, pattern: '.*', recursive: true }),
      () => three.call('filesystem::read', { path }),
    ];
    const counts = { inside: 0, refused: 0, leaked: 0 };
    await whileSwapping([`${root}/${name}`, `${root}/${link}`], async () => {
      // On until both sides of the swap were met.
      const isMet = () => counts.inside > 0 && counts.refused > 0;
      for (let round = 0; round < ROUNDS || (round < 20 * ROUNDS && !isMet()); round++) {
        const text = JSON.stringify(await tries[round % tries.length]!().catch((error: unknown) => String(error)));
        counts[text.includes('SECRET') ? 'leaked' : text.includes('inside') ? 'inside' : 'refused']++;
      }
    });
    console.log(`${name} swapped for a link to ${target}:`, counts);
    expect(counts).toEqual({ inside: expect.any(Number) as number, refused: expect.any(Number) as number, leaked: 0 });
    expect(Math.min(counts.inside, counts.refused)).toBeGreaterThan(0);
  });
});
