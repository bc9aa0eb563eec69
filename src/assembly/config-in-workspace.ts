/**
 * Whether agents could change a file that decides their rights, such as the configuration.
 *
 * They write below the workspace and below every directory that a worker's block names instead. Both ends of a symlink
 * count: replacing either changes the next read.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

import type { WorkerEntry } from './config-file.ts';

export function isWithinReach(file: string, workspace: string | undefined, entries: readonly WorkerEntry[]): boolean {
  const roots = [...(workspace === undefined ? [] : [workspace]), ...entries.flatMap(rootsOf)].map(canonical);
  const ends = [canonical(file), join(canonical(dirname(file)), basename(file))];
  return roots.some((root) => ends.some((end) => end.startsWith(root.endsWith(sep) ? root : root + sep)));
}

/** The directories that a block names where the workspace is the default. */
function rootsOf({ def, config }: WorkerEntry): string[] {
  return valuesAt(def.workspaceDefaults(sep), config);
}

function valuesAt(shape: unknown, value: unknown): string[] {
  if (typeof value === 'string') return [value];
  // A worker without a root may reach the whole machine.
  if (value === null) return [sep];
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(sep, item));
  if (typeof shape !== 'object' || shape === null || typeof value !== 'object') return [];
  return Object.entries(shape).flatMap(([key, inner]) => valuesAt(inner, (value as Record<string, unknown>)[key]));
}

/** Resolves symlinks as far as the path exists. */
function canonical(path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(canonical(parent), basename(absolute));
}
