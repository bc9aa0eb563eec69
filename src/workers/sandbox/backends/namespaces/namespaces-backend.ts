/**
 * The backend that isolates by namespaces of this kernel.
 *
 * It needs only Linux and a C compiler, as root or as an ordinary user. Root's sandboxes get ids of their own that no
 * account here has; a user's sandbox has one id, the user's.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { silentLog, type Log } from '#contract';
import { buildAgent, seccompFilter, sourcePath } from '#sandbox/guest';
import { writeSharedFile } from '#sandbox/images';
import { openLimiter, type Limiter } from '../../limits/limits.ts';
import type { SandboxBackend, Shape } from '../backend.ts';
import { LaunchedMachine } from '../launcher/launched-machine.ts';
import { buildLauncher, isRoot, launcherArguments, watchArguments } from '../launcher/launcher.ts';
import { emptyShape, tryMachine } from '../launcher/try-machine.ts';
import { rememberSuccess } from '../remember-success.ts';
import { wantedMachine } from '../dispose-if-aborted.ts';

/** Processes and threads. */
const MAX_PROCESSES = 1024;

const PROBE_MS = 10_000;

interface Tools {
  launcher: string;
  agent: string;
  seccomp: string;
}

export function namespacesBackend({ cacheDir, log = silentLog }: { cacheDir: string; log?: Log }): SandboxBackend {
  const limiter = openLimiter();
  const ready = rememberSuccess(() => buildTools(join(cacheDir, 'programs'), { log, limiter }));
  const start = async (shape: Omit<Shape, 'image'> & { rootDir: string }, id: string): Promise<LaunchedMachine> => {
    const { launcher, agent, seccomp } = await ready();
    const { memoryMb } = shape;
    const group = limiter.make(id, { ...shape, maxProcesses: MAX_PROCESSES });
    try {
      const { entrances } = group;
      const args = [...launcherArguments({ ...shape, id, agent, entrances }), '--seccomp', seccomp];
      if (entrances.length === 0) args.push('--max-processes', `${MAX_PROCESSES}`, '--max-data-mb', `${memoryMb}`);
      args.push(...watchArguments(group, memoryMb));
      return await LaunchedMachine.start({ launcher, args, group, diskPath: '/', memory: 'of-processes', memoryMb });
    } catch (error) {
      await group.release();
      throw error;
    }
  };
  return {
    name: 'namespaces',
    rung: 'namespaces',
    isolation: 'namespaces',
    // Constant: launcher and agent are ours.
    fingerprint: () => '',
    prepare: async () => void (await ready()),
    create: async ({ image, ...shape }, { id, signal }) =>
      wantedMachine(await start({ ...shape, rootDir: await image.directory() }, id), signal),
    sweep: () => limiter.sweep(),
    close: async () => {},
    /** Starts a machine on an empty root and waits for its agent. */
    async probe(signal) {
      if (process.platform !== 'linux') return { ok: false, reason: 'namespaces need Linux', stderrTail: '' };
      const tried = async () => start(await emptyShape(cacheDir), 'probe');
      const refusal = await tryMachine(tried, { deadlineMs: PROBE_MS, signal });
      if (refusal) return { ok: false, ...refusal };
      const ids = isRoot() ? 'ids of its own' : 'the id of this user';
      return { ok: true, detail: `${ids}, limits by ${limiter.kind}` };
    },
  };
}

async function buildTools(cacheDir: string, { log, limiter }: { log: Log; limiter: Limiter }): Promise<Tools> {
  const source = sourcePath('launcher.c', import.meta.url);
  const built = { launcher: await buildLauncher('launcher', source, cacheDir), agent: await buildAgent(cacheDir) };
  const filter = seccompFilter(process.arch, { isCounted: limiter.kind !== 'watchdog' });
  // Named by its content, so that no other version of Workcell replaces it; two servers that write it write the same.
  const seccomp = join(cacheDir, `seccomp-${hash('sha256', filter).slice(0, 16)}`);
  if (!existsSync(seccomp)) writeSharedFile(seccomp, filter);
  log.debug('the programs of the namespaces backend are built', built);
  return { ...built, seccomp };
}
