/**
 * Servers that were killed leave half-written files, files that hold images, and cgroups, also below a parent that is not
 * the next one's. The next start removes them and keeps those of running servers.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownCgroup } from '#host';
import { rounds, serveWorker, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { sandbox } from '#workers/sandbox';
import { shell } from '#workers/shell';
import { tempName } from '../../../src/host/changes/atomic-write-temp.ts';
import { ImageStore } from '../../../src/sandbox/images/image-store.ts';
import { sweepHierarchy } from '../../../src/workers/sandbox/limits/cgroup-dir.ts';
import { openLimiter } from '../../../src/workers/sandbox/limits/limits.ts';

const KILLS = rounds(2, 6, 100);
const DAEMON = fileURLToPath(new URL('leftovers-daemon.mjs', import.meta.url));

/** The parent group that limits sandboxes here. */
const hierarchy = ownCgroup(openLimiter().kind === 'cgroup1' ? 'pids' : 'unified');
const isWritable = hierarchy !== undefined && mayWrite(hierarchy);

let dir: TempDir;
/** Two sibling groups, and one below the other. */
let parents: string[] = [];
let living: ChildProcess;
const killed: ChildProcess[] = [];

beforeAll(async () => {
  dir = await tempDir({ 'cache/': '' });
  if (isWritable) {
    const above = mkdtempSync(join(hierarchy, 'workcell-test-'));
    parents = [join(above, 'ours'), join(above, 'theirs'), join(above, 'theirs', 'inner')];
    for (const parent of parents) mkdirSync(parent);
    parents.push(above);
  }
  living = await startDaemon();
  for (let kill = 0; kill < KILLS; kill++) killed.push(await startDaemon());
}, 120_000);

afterAll(async () => {
  await kill(living);
  if (isWritable) {
    await sweepHierarchy(parents[0]!);
    for (const parent of [parents[2]!, parents[1]!, parents[0]!, parents[3]!]) rmdirSync(parent);
  }
  await dir[Symbol.asyncDispose]();
});

test('a start of the sandbox worker', async () => {
  const holds = () => readdirSync(join(dir.path('cache'), 'holds', 'sha256-00'));
  const groups = () => parents.flatMap((parent) => readdirSync(parent).filter((name) => name.startsWith('workcell-')));
  expect([holds().length, groups().length]).toEqual([KILLS + 1, (KILLS + 1) * parents.length]);
  // Only now: a sandbox worker of another test may start at any time and remove the leftovers of dead servers.
  for (const daemon of killed) await kill(daemon);

  await using worker = await serveWorker(sandbox, { cache_dir: dir.path('cache'), prepare_images: false });
  expect(holds()).toEqual([expect.stringMatching(`^${living.pid}-`)]);
  expect(new ImageStore(dir.path('cache')).isInUse('sha256:00')).toBe(true);
  expect(groups()).toEqual(parents.map(() => expect.stringMatching(`^workcell-sandbox.${living.pid}-`)));
  await worker.stop();
});

test.each([
  ['coder', (root: string) => serveWorker(coder, { base_path: root })],
  ['filesystem', (root: string) => serveWorker(filesystem, { paths: [root] })],
  ['shell', (root: string) => serveWorker(shell, { fs: { host_root: root } })],
])('a start of %s', async (_, serve) => {
  const dead = fork(DAEMON, [dir.path('cache')], { execArgv: [] });
  await kill(dead);
  const half = (pid: number) => `deep/${tempName().replace(`-${process.pid}-`, `-${pid}-`)}`;
  const [left, current] = [half(dead.pid!), half(living.pid!)];
  await using own = await tempDir({ [left]: 'half', [current]: 'half' });
  await using worker = await serve(own.root);
  await expect.poll(() => existsSync(own.path(left))).toBe(false);
  expect(existsSync(own.path(current))).toBe(true);
  await worker.stop();
});

async function startDaemon(): Promise<ChildProcess> {
  const daemon = fork(DAEMON, [dir.path('cache'), ...parents], { execArgv: [] });
  await once(daemon, 'message', { signal: AbortSignal.timeout(30_000) });
  return daemon;
}

async function kill(daemon: ChildProcess): Promise<void> {
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
