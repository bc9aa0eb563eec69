/**
 * Mounts the layer of a change.
 *
 * A launcher makes the mount namespace and mounts; this process then holds the namespaces and the root of the layer by
 * descriptors, and the launcher ends. A descriptor of this process also holds the lock of the change.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

import { LayerError, type LayerParts, type MountedLayer } from '#host';
import { buildPrograms } from './build-launcher.ts';
import { FenceError } from './fence-error.ts';

const DEADLINE_MS = 10_000;
/** A child process shares the lock for a moment, until it runs its program. */
const ATTEMPTS = 4;
const RETRY_MS = 10;
/** Exit code of the launcher if another process has the lock. */
const LOCKED = 75;

// Not in node:fs; the same number on every architecture that Node supports.
const O_PATH = 0o10000000;

const FIX =
  'it needs overlayfs and, without root, user namespaces (sysctl kernel.unprivileged_userns_clone=1, ' +
  'kernel.apparmor_restrict_unprivileged_userns=0), and a state_dir on a local disk; `workcell doctor` has a line "changes"';

/** Throws a `LayerError`: `unavailable` where the system refuses, `elsewhere` if another server has the change. */
export async function mountLayer(parts: LayerParts): Promise<MountedLayer> {
  const launcher = await launcherPath();
  for (let attempt = 1; ; attempt++) {
    try {
      return await mountOnce(launcher, parts);
    } catch (error) {
      const isLocked = error instanceof LayerError && error.reason === 'elsewhere';
      if (!isLocked || attempt === ATTEMPTS) throw error;
      await passed(RETRY_MS);
    }
  }
}

async function mountOnce(launcher: string, parts: LayerParts): Promise<MountedLayer> {
  const { workspace, upper, work, pins, whiteout, lock } = parts;
  const words = ['--workspace', workspace, '--upper', upper, '--work', work, '--pins', pins, '--whiteout', whiteout];
  const started = start(launcher, ['view', ...words], [lock]);
  const line = await Promise.race([once(started.stdout, 'data').then(([bytes]) => String(bytes)), started.closed]);
  const kind = typeof line === 'string' ? /^ok (user|root)\n$/.exec(line)?.[1] : undefined;
  if (kind === undefined) {
    const code = await started.closed;
    if (code === LOCKED) {
      throw new LayerError(
        'elsewhere',
        'another server has this change open; end it, or wait until it has been idle for half a minute',
      );
    }
    throw new LayerError(
      'unavailable',
      `changes are not available here: ${started.problem() || `the launcher ended with ${code}`}; ${FIX}`,
    );
  }
  const opened: number[] = [];
  try {
    for (const name of ['user', 'mnt']) opened.push(openSync(`/proc/${started.pid}/ns/${name}`, 'r'));
    const fd = openSync(`/proc/${started.pid}/root${workspace}`, O_PATH | constants.O_DIRECTORY);
    opened.push(fd);
    const namespaces = [opened[0]!, opened[1]!] as const;
    const mountId = /mnt_id:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!;
    return {
      view: { root: workspace, fd, mountId },
      mount: kind === 'user' ? 'overlay-user' : 'overlay',
      namespaces,
      refresh: () => refresh(launcher, workspace, { kind, namespaces }),
      close: () => opened.forEach((descriptor) => closeSync(descriptor)),
    };
  } catch (error) {
    opened.forEach((descriptor) => closeSync(descriptor));
    throw new LayerError('unavailable', `changes are not available here: ${(error as Error).message}; ${FIX}`, {
      cause: error,
    });
  } finally {
    started.stdin.end();
  }
}

async function refresh(
  launcher: string,
  workspace: string,
  { kind, namespaces }: { kind: string; namespaces: readonly number[] },
): Promise<void> {
  const words = ['refresh', '--workspace', workspace, '--user', kind === 'user' ? 'yes' : 'no'];
  const started = start(launcher, words, namespaces);
  const code = await started.closed;
  if (code !== 0) throw new LayerError('system', `the view of the change cannot be refreshed: ${started.problem()}`);
}

function start(launcher: string, words: readonly string[], descriptors: readonly number[]) {
  const child = spawn(launcher, words, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe', ...descriptors] });
  let text = '';
  child.on('error', (error) => (text += error.message));
  child.stdin!.on('error', () => {});
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() =>
    clearTimeout(timer),
  );
  return { pid: child.pid, stdin: child.stdin!, stdout: child.stdout!, closed, problem: () => text.trim() };
}

async function launcherPath(): Promise<string> {
  if (process.platform !== 'linux') throw new LayerError('unavailable', 'changes need overlayfs of Linux');
  try {
    return (await buildPrograms()).launcher;
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    throw new LayerError('unavailable', `changes are not available here: ${error.message}`, { cause: error });
  }
}
