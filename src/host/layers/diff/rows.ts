/** The rows of a diff: each touched path with the kind of change. */
import { parentsOf } from './parents.ts';
import { textOf, type LayerContents, type PathEntry } from './contents.ts';
import type { Rename } from './renames.ts';
import type { LayerEntry, LayerWalk, NewTree, TouchedPath } from './touched-paths.ts';

export type RowKind = 'added' | 'modified' | 'deleted' | 'renamed' | 'mode' | 'link' | 'tree';

export interface Row {
  readonly path: string;
  readonly kind: RowKind;
  /** Old path of a renamed file. */
  readonly from?: string;
  readonly before?: PathEntry;
  readonly after?: PathEntry;
  readonly tree?: NewTree;
  /** Whether a renamed file has the content that it had. */
  readonly isExact?: boolean;
  /** Touched paths that the row was made from: two of a rename, the old path first. */
  readonly of: readonly TouchedPath[];
}

/** All rows by path, without paths whose content and mode are those of the base. */
export async function rowsOf(walk: LayerWalk, renames: readonly Rename[], contents: LayerContents): Promise<Row[]> {
  const renamed = new Set(renames.flatMap(({ from, to }) => [from, to]));
  const singles = walk.touched.filter((one) => !renamed.has(one));
  const isParent = parentsOf([...walk.touched.filter(({ mine }) => mine), ...walk.trees]);
  const rows: Row[] = renames.map(({ from, to, isExact }) => ({
    path: to.path,
    kind: 'renamed',
    from: from.path,
    before: pathEntry(from.path, from.base),
    after: pathEntry(to.path, to.mine),
    isExact,
    of: [from, to],
  }));
  for (const one of singles) {
    // A new directory is a row only if no other row shows it.
    const isShown = one.mine?.type === 'directory' && one.base?.type !== 'directory' && isParent.has(one.path);
    const kind = isShown ? undefined : await kindOf(one, contents);
    if (kind) rows.push(rowOf(one, kind));
  }
  for (const tree of walk.trees) rows.push({ path: tree.path, kind: 'tree', tree, of: tree.entries });
  return rows.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function rowOf(one: TouchedPath, kind: RowKind): Row {
  const [before, after] = [pathEntry(one.path, one.base), pathEntry(one.path, one.mine)];
  return { path: one.path, kind, ...(before && { before }), ...(after && { after }), of: [one] };
}

async function kindOf({ path, mine, base }: TouchedPath, contents: LayerContents): Promise<RowKind | undefined> {
  if (!mine) return 'deleted';
  const isSame = await contents.isSame(pathEntry(path, mine), pathEntry(path, base));
  if (isSame) return mine.type !== 'link' && bitsOf(mine) !== bitsOf(base!) ? 'mode' : undefined;
  if (mine.type === 'link') return 'link';
  return !base || base.type === 'directory' || mine.type === 'directory' ? 'added' : 'modified';
}

export function pathEntry(path: string, entry: LayerEntry | undefined): PathEntry | undefined {
  return entry && { path, entry };
}

/** Permission bits. */
export function bitsOf({ stat }: LayerEntry): number {
  return Number(stat.mode & 0o7777n);
}

/** Larger files are shown and counted by size only. */
const MAX_SHOWN_BYTES = 2 ** 20;

/** The text of a file; undefined for a binary one, and for anything that is not a file. An absent file is empty. */
export async function shownText(one: PathEntry | undefined, contents: LayerContents): Promise<string | undefined> {
  if (!one || one.entry.type === 'directory') return '';
  if (one.entry.type !== 'file') return undefined;
  return textOf(await contents.read(one));
}

export function isTooLarge({ before, after }: Row): boolean {
  return [before, after].some((one) => one?.entry.type === 'file' && one.entry.stat.size > MAX_SHOWN_BYTES);
}
