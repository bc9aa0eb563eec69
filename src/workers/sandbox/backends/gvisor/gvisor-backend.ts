/**
 * The gVisor backend: a kernel in a program, which answers the guest's system calls itself.
 *
 * `runsc` runs in a jail of namespaces that a launcher makes, so all of it ends with one process and leaves nothing.
 * For an ordinary user it runs rootless; the sandbox is the same.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { silentLog, type Log } from '#contract';
import { buildAgent, buildProgram, sourcePath } from '#sandbox/guest';
import { openLimiter } from '../../limits/limits.ts';
import type { SandboxBackend, Shape } from '../backend.ts';
import { LaunchedMachine } from '../launcher/launched-machine.ts';
import { buildLauncher, isRoot, launcherArguments, watchArguments } from '../launcher/launcher.ts';
import { emptyShape, tryMachine } from '../launcher/try-machine.ts';
import { rememberSuccess } from '../remember-success.ts';
import { wantedMachine } from '../dispose-if-aborted.ts';
import { maxFileMb, MAX_PROCESSES, runtimeConfig } from './bundle.ts';
import { askRunsc, findRunsc, fingerprintOf, type Runsc } from './runsc.ts';

const PROBE_MS = 20_000;

/** gVisor's own memory, beside that of the guest: for its kernel, and for each process. */
const OWN_MEMORY_MB = 256;

/**
 * A process of the guest is one of the host, plus the threads of gVisor's kernel that serve it. Without room gVisor
 * exits.
 */
const HOST_TASKS = 16 * MAX_PROCESSES;

interface Tools {
  runsc: Runsc;
  launcher: string;
  agent: string;
  /** A library of ours for the programs of the guest. */
  statx: string;
}

export function gvisorBackend({ cacheDir, log = silentLog }: { cacheDir: string; log?: Log }): SandboxBackend {
  const limiter = openLimiter();
  const ready = rememberSuccess(() => findTools(join(cacheDir, 'programs'), log));
  const start = async (shape: Omit<Shape, 'image'> & { rootDir: string }, id: string): Promise<LaunchedMachine> => {
    const { runsc, launcher, agent, statx } = await ready();
    const memoryMb = shape.memoryMb + OWN_MEMORY_MB;
    const group = limiter.make(id, { ...shape, memoryMb, maxProcesses: HOST_TASKS });
    try {
      const args = [
        ...launcherArguments({ ...shape, id, agent, entrances: group.entrances }),
        ...['--runsc', runsc.path, '--config', JSON.stringify(runtimeConfig({ ...shape, id }))],
        ...['--max-file-mb', `${maxFileMb(shape)}`, '--statx', statx],
        ...watchArguments(group, memoryMb),
        ...['--', '--root=/state', ...runsc.options, 'run', '--bundle', '/bundle', id],
      ];
      return await LaunchedMachine.start({ launcher, args, group, diskPath: '/root', memory: 'a-file', memoryMb });
    } catch (error) {
      await group.release();
      throw error;
    }
  };
  return {
    name: 'gvisor',
    rung: 'gvisor',
    isolation: 'userspace-kernel',
    fingerprint: () => fingerprintOf(findRunsc()),
    prepare: async () => void (await ready()),
    create: async ({ image, ...shape }, { id, signal }) =>
      wantedMachine(await start({ ...shape, rootDir: await image.directory() }, id), signal),
    // The state of a machine is in the memory of its jail, so only cgroups can be left.
    sweep: () => limiter.sweep(),
    close: async () => {},
    /** Starts a machine on an empty root and waits for its agent. */
    async probe(signal) {
      if (process.platform !== 'linux') return { ok: false, reason: 'gVisor needs Linux', stderrTail: '' };
      const tried = async () => start(await emptyShape(cacheDir), `probe-${randomUUID()}`);
      const refusal = await tryMachine(tried, { deadlineMs: PROBE_MS, signal });
      if (refusal) return { ok: false, ...refusal };
      const { runsc } = await ready();
      const ids = isRoot() ? 'ids of its own' : 'rootless';
      return { ok: true, detail: `runsc ${runsc.version}, ${ids}, limits by ${limiter.kind}` };
    },
  };
}

async function findTools(cacheDir: string, log: Log): Promise<Tools> {
  const path = findRunsc();
  if (path === undefined) throw new Error('there is no runsc on the PATH');
  const runsc = await askRunsc(path, { isRoot: isRoot() });
  const launcher = await buildLauncher('gvisor-launcher', sourcePath('launcher.c', import.meta.url), cacheDir);
  const sources = [sourcePath('statx.c', import.meta.url)];
  const statx = await buildProgram({ name: 'statx', sources, cacheDir, kind: 'library' });
  log.debug('gVisor is there', { ...runsc });
  return { runsc, launcher, agent: await buildAgent(cacheDir), statx };
}
