/**
 * The programs that a backend calls and this host lacks, with their Debian packages.
 *
 * needs.json has the programs of every backend, the backend.json in its folder the rest. They are JSON because
 * scripts/sandbox-packages.mjs reads them too, before anything is built.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { BackendFacts, Need } from './definition.ts';
import everyones from './needs.json' with { type: 'json' };

/** mkfs programs are there, outside the PATH of ordinary users. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

export function needsOf({ needs }: Pick<BackendFacts, 'needs'>): Need[] {
  return [...(everyones as Need[]), ...needs].filter(({ arch = process.arch }) => arch === process.arch);
}

export function missingFor(backend: Pick<BackendFacts, 'needs'>, path = process.env.PATH ?? ''): Need[] {
  const folders = [...path.split(delimiter), ...SYSTEM_FOLDERS];
  const isThere = (program: string) => folders.some((folder) => existsSync(join(folder, program)));
  return needsOf(backend).filter(({ programs }) => !programs.some(isThere));
}
