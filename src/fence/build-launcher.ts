/** Builds the launcher, and the filter of system calls that it loads. */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { buildProgram, MOUNT_SOURCES, seccompFilter, sourcePath } from '#sandbox/guest';
import { defaultCacheDir, writeSharedFile } from '#sandbox/images';
import { FenceError } from './fence-error.ts';

const SOURCES = ['fence.c', 'hold.c', 'enter.c', 'view.c', 'ids.c', 'relay.c', 'fence.h'];

export interface Programs {
  readonly launcher: string;
  readonly filter: string;
}

export async function buildPrograms(cacheDir = join(defaultCacheDir(), 'programs')): Promise<Programs> {
  const sources = [...SOURCES.map((name) => sourcePath(`launcher/${name}`, import.meta.url)), ...MOUNT_SOURCES];
  try {
    const launcher = await buildProgram({ name: 'fence', sources, cacheDir });
    const bytes = seccompFilter(process.arch);
    // Named by its content: two servers that write the file write the same bytes.
    const filter = join(cacheDir, `seccomp-${hash('sha256', bytes).slice(0, 16)}`);
    if (!existsSync(filter)) writeSharedFile(filter, bytes);
    return { launcher, filter };
  } catch (error) {
    const problem = `the launcher of the fence cannot be built: ${(error as Error).message}`;
    throw new FenceError(problem, 'install gcc or musl-tools, or start with fence: off', { cause: error });
  }
}
