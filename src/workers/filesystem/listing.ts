/** The fields of a listed entry, and which entries are listed. */
import type { Stats } from 'node:fs';
import { relative } from 'node:path';

import { z } from 'zod';

import { wire } from '#contract';
import {
  compileGlobs,
  gitignoreOf,
  rootOf,
  toText,
  type ByteString,
  type Jail,
  type JailDir,
  type ListedEntry,
} from '#host';

/** Most entries of a list, whatever a request asks for. */
const MAX_RESULTS = 100_000;

export const ENTRY_TYPES = ['file', 'directory', 'symlink', 'other'] as const;

export const Entry = z.object({
  name: z.string().describe('Bytes that are not UTF-8 are replaced by U+FFFD.'),
  path: z.string().describe('Absolute.'),
  type: z.enum(ENTRY_TYPES).describe('Symlinks are listed as such and not followed.'),
  size: wire.uint64().describe('Bytes.'),
  modified: z.number().describe('Last change, in seconds since 1970.'),
});

export const maxResultsField = (usual: number) =>
  z.int().min(1).max(MAX_RESULTS).default(usual).describe('Most entries returned.');

export const truncatedField = z.boolean().describe('True if there are more entries than returned.');

export const gitignoreField = z
  .boolean()
  .optional()
  .describe('Skip .git and files that .gitignore files exclude; default false.');

/** `name` was listed by `dir`. Undefined if the entry was removed since. */
export function entryOf(dir: JailDir, name: ByteString): z.input<typeof Entry> | undefined {
  const look = dir.lstatListed(name);
  if (!look) return undefined;
  return {
    name: toText(name),
    path: `/${dir.pathOf(name)}`,
    type: look.kind,
    size: look.size,
    modified: modifiedSecs(look),
  };
}

export function modifiedSecs({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
  return mtimeMs / 1000;
}

export function isHidden(name: ByteString): boolean {
  return name.startsWith('.');
}

/** Whether an entry below a directory matches: by its name, or by its relative path when the glob has a `/`. */
export function matcherOf(glob: string, top: JailDir): (dir: JailDir, name: ByteString) => boolean {
  const matches = compileGlobs([glob], { dialect: 'segments' });
  if (!glob.includes('/')) return (_, name) => matches(toText(name));

  const skipped = top.relativePath === '' ? 0 : top.relativePath.length + 1;
  return (dir, name) => matches(dir.pathOf(name).slice(skipped));
}

/** Whether an entry below a directory is excluded: .git, or named by a .gitignore file of its allowed path. */
export function leftOutBelow(top: JailDir, jail: Jail): (dir: JailDir, entry: ListedEntry) => boolean {
  const root = rootOf(`/${top.relativePath}`, jail);
  const isLeftOut = gitignoreOf({ roots: [root], mode: jail.mode, view: jail.view });
  return (dir, { name, kind }) =>
    isLeftOut(relative(root, `/${dir.relativePath}`), { name, isDir: kind === 'directory' });
}
