/**
 * The programs that each backend calls, and the Debian packages that bring them.
 *
 * The table is a JSON file because scripts/sandbox-packages.mjs reads it too, before anything is built.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { SandboxBackend } from '../backends/backend.ts';
import table from './packages.json' with { type: 'json' };

export type BackendName = SandboxBackend['name'];

export interface Need {
  /** Any of them will do; the package brings the first. */
  readonly programs: readonly string[];
  readonly package: string;
  /** Completes "… is needed for". */
  readonly for: string;
}

interface Row extends Need {
  readonly backends: readonly string[];
  /** Absent when it is needed on every processor. */
  readonly arch?: string;
}

/** What makes file systems lies there, where ordinary users do not look. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

export function needsOf(backend: BackendName): Need[] {
  const rows: readonly Row[] = table;
  return rows.filter(({ backends, arch = process.arch }) => backends.includes(backend) && arch === process.arch);
}

export function missingFor(backend: BackendName, path = process.env.PATH ?? ''): Need[] {
  const folders = [...path.split(delimiter), ...SYSTEM_FOLDERS];
  const isThere = (program: string) => folders.some((folder) => existsSync(join(folder, program)));
  return needsOf(backend).filter(({ programs }) => !programs.some(isThere));
}
