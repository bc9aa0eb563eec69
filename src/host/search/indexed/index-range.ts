/**
 * The part of the tree that one index thread owns: the files between two paths, in byte order of the paths.
 *
 * Searches answer in that order too, so the answers of the parts are concatenated.
 */
import { availableParallelism } from 'node:os';

import type { ByteString } from '../../text/byte-string.ts';
import { joinPath, type OpenWalkDir } from '../../walk/walk-dir.ts';
import { Walk } from '../../walk/walk.ts';
import { Turns } from '../turns.ts';

export interface PathRange {
  /** First path of the range. */
  readonly from: string;
  /** First path after the range; undefined for the last part. */
  readonly to?: string;
}

export function holdsFile({ from, to }: PathRange, path: string): boolean {
  return path >= from && (to === undefined || path < to);
}

/** Whether the range may contain files of the directory, at any depth. */
export function reachesInto({ from, to }: PathRange, dir: string): boolean {
  // `0` is the character after the slash, so every path below the directory sorts before it.
  return dir === '' || ((to === undefined || `${dir}/` < to) && `${dir}0` > from);
}

const ROOT = '' as ByteString;
const TURN_MS = 5;

/** Each takes some hundred bytes beside its text. */
export const MAX_INDEXED_FILES = 500_000;

/** Below this, another thread costs more than it saves; see docs/decisions/2026-11-16-search-ready-ahead.md. */
const MIN_FILES_A_PART = 1000;
/** Each takes the memory of a Node thread. */
const MAX_PARTS = 4;

/** Splits the tree into parts of about as many files; as many parts as processors, unless `partCount` is given. */
export async function splitTree(
  openDir: OpenWalkDir,
  { partCount, signal }: { partCount?: number | undefined; signal: AbortSignal },
): Promise<PathRange[]> {
  const rows = await rowsOfFiles(openDir, signal);
  const total = rows.reduce((sum, { files }) => sum + files, 0);
  const count = partCount ?? Math.min(availableParallelism(), MAX_PARTS, Math.floor(total / MIN_FILES_A_PART));
  const borders: string[] = [];
  let passed = 0;
  for (const { first, files } of rows) {
    if (passed >= ((borders.length + 1) * total) / count) borders.push(first);
    passed += files;
  }
  return ['', ...borders].map((from, part) => ({ from, to: borders[part] }));
}

/** Consecutive files of a directory, by the path of the first. */
async function rowsOfFiles(openDir: OpenWalkDir, signal: AbortSignal): Promise<{ first: string; files: number }[]> {
  const rows: { first: string; files: number }[] = [];
  let count = 0;
  const turns = new Turns(signal, TURN_MS);
  const walk = new Walk(openDir, [{ dir: ROOT }], { start: ROOT });
  try {
    for (let step = walk.next(); step; step = walk.next()) {
      if (step.kind === 'files') {
        rows.push({ first: joinPath(step.dir.path, step.names[0]!), files: step.names.length });
        count += step.names.length;
        if (count > MAX_INDEXED_FILES) throw new Error(`more than ${MAX_INDEXED_FILES} files`);
      }
      if (turns.isOver) await turns.next();
    }
  } finally {
    walk.close();
  }
  return rows;
}
