/** Calls of filesystem actions in one kind of jail, over the directory `ws` of a test's own folder. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

import type { FunctionDef, Log } from '#contract';
import type { JailMode } from '#host';
import { run } from './run.ts';
import type { TempDir } from './temp-dir.ts';

/** The reply of every action, its data loosely typed. */
export interface ActionReply {
  success: boolean;
  data?: Record<string, unknown>;
  error?: string;
  metadata?: Record<string, unknown>;
}

/** `open` opens the worker's context in a chosen jail mode. */
export function filesystemCases(
  open: (config: never, log: Log, cell: undefined, mode: JailMode) => unknown,
  mode: JailMode,
) {
  return async (
    fn: FunctionDef<unknown>,
    dir: TempDir,
    payload: unknown,
    config: Record<string, unknown> = {},
  ): Promise<ActionReply> =>
    (await run(
      fn,
      payload,
      { paths: [dir.path('ws')], fsync: false, ...config },
      { open: (parsed, log) => open(parsed as never, log, undefined, mode) },
    )) as ActionReply;
}

/** Everything below a directory: mode and contents. */
export function treeOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(names.map((name) => [name, shown(`${folder}/${name}`)]));
}

function shown(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  const mode = (stat.mode & 0o777).toString(8);
  return stat.isFile() ? `${mode} ${readFileSync(path, 'utf8')}` : mode;
}
