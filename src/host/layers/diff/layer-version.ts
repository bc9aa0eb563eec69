/**
 * Stands for everything that a change does, so that a person approves the shown diff and nothing else.
 *
 * Made of inodes and times instead of contents: every write moves the ctime, which no program can set.
 */
import { hash } from 'node:crypto';

import type { LayerInspection } from './inspect-layer.ts';
import type { TouchedPath } from './touched-paths.ts';

export function layerVersion({ rows, leftOut, repositories }: LayerInspection): string {
  const lines = rows.flatMap(({ path, kind, from, of, tree }) => [
    JSON.stringify([path, kind, from]),
    ...[...of, ...(tree?.entries ?? [])].map(entryLine),
  ]);
  const git = repositories.map(({ path, objects, refs, index }) => [
    path,
    objects,
    refs.map(({ name, to }) => [name, to]),
    index,
  ]);
  return `sha256:${hash('sha256', [...lines, JSON.stringify([leftOut, git])].join('\n'))}`;
}

function entryLine({ path, mine }: TouchedPath): string {
  if (!mine) return JSON.stringify([path]);
  const { ino, size, mode, mtimeNs, ctimeNs } = mine.stat;
  // The times and the size of a directory change with entries that are left out.
  const facts = mine.type === 'directory' ? [mode] : [ino, size, mode, mtimeNs, ctimeNs];
  return JSON.stringify([path, mine.type, ...facts.map(String)]);
}
