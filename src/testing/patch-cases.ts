/** Applies patches in tests, and reads the files of a directory for comparison. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

import type { FunctionDef } from '#contract';
import { run, type RunOptions } from './run.ts';
import type { TempDir } from './temp-dir.ts';

export function patchCases<Result>(applyPatch: FunctionDef<unknown, z.ZodType, z.ZodType<Result>>) {
  return {
    apply: (dir: TempDir, patch: string, more: object = {}, options: RunOptions = {}): Promise<Result> =>
      run(applyPatch, { patch, ...more }, { base_path: dir.root, fsync: false }, options),
    v4a: (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n'),
  };
}

/** Every file below a directory with its content; a symlink with its target. */
export function filesBelow({ root }: TempDir): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    // Node 24 also lists paths below a symlink.
    .filter((entry) => !entry.isDirectory() && realpathSync(entry.parentPath) === entry.parentPath);
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const content = (path: string) =>
    lstatSync(path).isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8');
  return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), content(path)]));
}
