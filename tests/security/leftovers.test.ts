/**
 * Sandbox daemons that were killed leave files that hold images and cgroups, also below a parent that is not the next
 * one's. The next start takes them away and leaves those of the living.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownCgroup } from '#host';
import { tempDir, type TempDir } from '#testing';
import { ImageStore } from '../../src/workers/sandbox/images/image-store.ts';
import { sweepHierarchy } from '../../src/workers/sandbox/limits/cgroup-dir.ts';

const KILLS = process.env.WORKCELL_SOAK ? 100 : 6;
const DAEMON = fileURLToPath(new URL('leftovers-daemon.mjs', import.meta.url));

const hierarchy = ownCgroup('unified') ?? ownCgroup('pids');
const isWritable = hierarchy !== undefined && mayWrite(hierarchy);

let dir: TempDir;
/** Two that stand side by side, and one below the other. */
let parents: string[] = [];
let living: ChildProcess;

beforeAll(async () => {
  dir = await tempDir({ 'cache/': '' });
  if (isWritable) {
    const above = mkdtempSync(join(hierarchy, 'workcell-test-'));
    parents = [join(above, 'ours'), join(above, 'theirs'), join(above, 'theirs', 'inner')];
    for (const parent of parents) mkdirSync(parent);
    parents.push(above);
  }
  living = await startDaemon();
  for (let kill = 0; kill < KILLS; kill++) {
    const daemon = await startDaemon();
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  }
}, 120_000);

afterAll(async () => {
  living.kill('SIGKILL');
  await once(living, 'exit');
  if (isWritable) {
    await sweepHierarchy(parents[0]!);
    for (const parent of [parents[2]!, parents[1]!, parents[0]!, parents[3]!]) rmdirSync(parent);
  }
  await dir[Symbol.asyncDispose]();
});

test('files that hold images', () => {
  const holds = () => readdirSync(join(dir.path('cache'), 'holds', 'sha256-00'));
  expect(holds()).toHaveLength(KILLS + 1);
  const store = new ImageStore(dir.path('cache'));
  store.removeDeadHolds();
  expect(holds()).toEqual([expect.stringMatching(`^${living.pid}-`)]);
  expect(store.isHeld('sha256:00')).toBe(true);
});

test.skipIf(!isWritable)('cgroups, below whatever parent they are', async () => {
  const groups = () => parents.flatMap((parent) => readdirSync(parent).filter((name) => name.startsWith('workcell-')));
  expect(groups().length).toBe((KILLS + 1) * parents.length);
  // As a daemon does whose own groups stand in the first.
  await sweepHierarchy(parents[0]!);
  expect(groups()).toEqual(parents.map(() => expect.stringMatching(`^workcell-sandbox.${living.pid}-`)));
});

async function startDaemon(): Promise<ChildProcess> {
  const daemon = fork(DAEMON, [dir.path('cache'), ...parents], { execArgv: [] });
  await once(daemon, 'message', { signal: AbortSignal.timeout(30_000) });
  return daemon;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
