/**
 * Pairs deleted with added files: first those of equal content, then those with most lines in common.
 *
 * A file that the change moved without reading it is found by its inode: the view shows that of the moved file.
 */
import { hash } from 'node:crypto';

import { textOf, type LayerContents } from './contents.ts';
import type { TouchedPath } from './touched-paths.ts';

export interface Rename {
  readonly from: TouchedPath;
  readonly to: TouchedPath;
  /** Whether the content is the same. */
  readonly isExact: boolean;
}

/** Share of the larger file's lines that a renamed and edited file has in common with its source. */
const MIN_SIMILARITY = 0.6;

/** Above this many deleted and added files, only files of equal content are paired. */
const MAX_CANDIDATES = 1000;

/** Larger files are not compared by lines. */
const MAX_COMPARED_BYTES = 256 * 1024;

export async function findRenames(touched: readonly TouchedPath[], contents: LayerContents): Promise<Rename[]> {
  const gone = touched.filter(({ mine, base }) => !mine && base?.type === 'file' && base.stat.size > 0n);
  const made = touched.filter(({ mine, base }) => !base && mine?.type === 'file' && mine.stat.size > 0n);
  if (gone.length === 0 || made.length === 0) return [];
  const exact = await equalFiles(gone, made, contents);
  const paired = new Set(exact.flatMap(({ from, to }) => [from, to]));
  const [left, right] = [gone, made].map((list) => list.filter((one) => !paired.has(one)));
  return [...exact, ...(await similarFiles(left!, right!, contents))];
}

async function equalFiles(gone: TouchedPath[], made: TouchedPath[], contents: LayerContents): Promise<Rename[]> {
  const bySize = new Map<bigint, TouchedPath[]>();
  for (const one of gone) bySize.set(one.base!.stat.size, [...(bySize.get(one.base!.stat.size) ?? []), one]);
  const sums = new Map<TouchedPath, string>();
  const sumOf = async (one: TouchedPath) => {
    const known = sums.get(one) ?? (await contents.version({ path: one.path, entry: one.mine ?? one.base! }))!;
    sums.set(one, known);
    return known;
  };
  const renames: Rename[] = [];
  for (const to of made) {
    const candidates = bySize.get(to.mine!.stat.size) ?? [];
    let from = to.isMoved ? candidates.find((one) => isSameInode(one, to)) : undefined;
    // A file of the same name first: several files may have one content.
    for (const one of candidates.toSorted((a, b) => nameOf(a, to) - nameOf(b, to))) {
      if (from) break;
      if ((await sumOf(one)) === (await sumOf(to))) from = one;
    }
    if (!from) continue;
    candidates.splice(candidates.indexOf(from), 1);
    renames.push({ from, to, isExact: true });
  }
  return renames;
}

function isSameInode({ base }: TouchedPath, { mine }: TouchedPath): boolean {
  return base!.stat.ino === mine!.stat.ino && base!.stat.mtimeNs === mine!.stat.mtimeNs;
}

function nameOf({ path }: TouchedPath, to: TouchedPath): number {
  return path.slice(path.lastIndexOf('/')) === to.path.slice(to.path.lastIndexOf('/')) ? 0 : 1;
}

async function similarFiles(gone: TouchedPath[], made: TouchedPath[], contents: LayerContents): Promise<Rename[]> {
  if (gone.length + made.length > MAX_CANDIDATES) return [];
  const [left, right] = [await linesOfAll(gone, contents), await linesOfAll(made, contents)];
  const pairs = left.flatMap((from) =>
    right.flatMap((to) => {
      const score = similarity(from, to);
      return score >= MIN_SIMILARITY ? [{ from: from.of, to: to.of, score }] : [];
    }),
  );
  const taken = new Set<TouchedPath>();
  return pairs
    .sort((a, b) => b.score - a.score)
    .flatMap(({ from, to }) => {
      if (taken.has(from) || taken.has(to)) return [];
      taken.add(from).add(to);
      return [{ from, to, isExact: false }];
    });
}

interface Lines {
  readonly of: TouchedPath;
  readonly total: number;
  readonly counts: ReadonlyMap<string, number>;
}

async function linesOfAll(list: readonly TouchedPath[], contents: LayerContents): Promise<Lines[]> {
  const all: Lines[] = [];
  for (const of of list) {
    const entry = (of.mine ?? of.base)!;
    if (entry.stat.size > MAX_COMPARED_BYTES) continue;
    const text = textOf(await contents.read({ path: of.path, entry }));
    if (text === undefined) continue;
    const lines = text.replace(/\n$/, '').split('\n');
    const counts = new Map<string, number>();
    for (const line of lines) {
      const key = line.length > 64 ? hash('sha1', line, 'base64') : line;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    all.push({ of, total: lines.length, counts });
  }
  return all;
}

function similarity(a: Lines, b: Lines): number {
  const larger = Math.max(a.total, b.total);
  if (Math.min(a.total, b.total) < larger * MIN_SIMILARITY) return 0;
  let common = 0;
  for (const [line, count] of a.counts) common += Math.min(count, b.counts.get(line) ?? 0);
  return common / larger;
}
