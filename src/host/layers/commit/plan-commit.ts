/**
 * Turns the touched paths of a change into the entries of one write set.
 *
 * Order: deletions, renames, directories that became empty, new and changed files, modes. A deletion comes first because
 * a file may take the path of a directory, and the other way round.
 */
import { HostError } from '../../host-error.ts';
import type { Jail } from '../../jail/jail.ts';
import type { Seen, SetEntry } from '../../journal/set-entry.ts';
import type { LayerInspection } from '../diff/inspect-layer.ts';
import { isWithin } from '../diff/parents.ts';
import { bitsOf, type Row, type RowKind } from '../diff/rows.ts';
import type { Before } from '../pins.ts';
import type { LayerEntry, LeftOut, NewTree, TouchedPath } from '../diff/touched-paths.ts';
import { copiedUp } from './overlay-copy-up.ts';
import { standingOf, type Conflict, type ConflictScope, type Standing } from './conflicts.ts';

export type OnConflict = 'refuse' | 'merge' | 'mine' | 'theirs';

export interface PlanOptions {
  readonly onConflict: OnConflict;
  /** Keeps the layer as it is: files are copied out of it, not renamed. */
  readonly isPart: boolean;
}

export interface CommitRow {
  readonly path: string;
  readonly kind: Row['kind'];
  readonly from?: string;
  readonly merged?: boolean;
}

export interface CommitPlan {
  readonly entries: readonly SetEntry[];
  readonly rows: readonly CommitRow[];
  readonly merged: number;
  /** Conflicts that stop the commit. */
  readonly conflicts: readonly Conflict[];
  readonly leftOut: readonly LeftOut[];
  /** Whether a file of the workspace is replaced although another program changed it. */
  readonly isForced: boolean;
  /** Files that the commit changes and no other program has changed: the base again, if the commit is rolled back. */
  readonly befores: readonly Before[];
}

export async function planCommit(
  inspection: LayerInspection,
  scope: ConflictScope,
  options: PlanOptions,
): Promise<CommitPlan> {
  const planner = new Planner(inspection, scope, options);
  planner.directories(inspection.newDirectories);
  for (const row of inspection.rows) await planner.take(row);
  return planner.plan();
}

class Planner {
  readonly #inspection: LayerInspection;
  readonly #scope: ConflictScope;
  readonly #options: PlanOptions;
  readonly #deletions: SetEntry[] = [];
  readonly #moves: SetEntry[] = [];
  readonly #puts: SetEntry[] = [];
  readonly #modes: SetEntry[] = [];
  readonly #rows: CommitRow[] = [];
  readonly #conflicts: Conflict[] = [];
  readonly #befores: Before[] = [];
  /** Paths with an entry below them that stays, so that no directory above is removed as a whole. */
  readonly #kept: string[];
  readonly #device: number;
  #isForced = false;
  /** Deleted paths. */
  #gone: Set<string> | undefined;

  constructor(inspection: LayerInspection, scope: ConflictScope, options: PlanOptions) {
    this.#inspection = inspection;
    this.#scope = scope;
    this.#options = options;
    this.#kept = [...inspection.leftOut.map(({ path }) => path), ...inspection.repositories.map(({ path }) => path)];
    this.#device = deviceOf(scope.jails.live);
  }

  /** A new directory is made with the first file in it, with mode 0755, and gets its own mode last. */
  directories(list: readonly TouchedPath[]): void {
    for (const { path, mine, theirs } of list) {
      const mode = bitsOf(mine!) & 0o1777;
      if (theirs?.type !== 'directory' && mode !== 0o755) this.#modes.push({ kind: 'mode', path, mode });
    }
  }

  async take(row: Row): Promise<void> {
    if (row.tree) return this.#takeTree(row.tree);
    const standings: Standing[] = [];
    for (const one of row.of) standings.push(await standingOf(one, this.#scope));
    if (standings.every(({ state }) => state === 'clear')) {
      row.of.forEach((one) => this.#keepBefore(one));
      if (row.kind === 'renamed') this.#rename(row);
      else this.#apply(row.of[0]!, row.kind);
      this.#rows.push(shown(row));
      return;
    }
    // A rename with a conflict at one end is a deletion and an addition.
    for (const [at, one] of row.of.entries()) this.#takeUncertain(one, standings[at]!, row);
  }

  plan(): CommitPlan {
    const { leftOut, goneDirectories } = this.#inspection;
    const whole = goneDirectories.filter((path) => this.#isWhollyGone(path));
    const outermost = whole.filter((path) => !whole.some((other) => other !== path && isWithin(path, [other])));
    const singles = this.#deletions.filter(({ path }) => !isWithin(path, outermost));
    const emptied = goneDirectories.filter((path) => !isWithin(path, outermost)).toReversed();
    return {
      entries: [
        ...outermost.map((path) => ({ kind: 'delete', path }) as const),
        ...singles,
        ...this.#moves,
        ...emptied.map((path) => ({ kind: 'delete', path, ifEmpty: true }) as const),
        ...this.#puts,
        ...this.#modes,
      ],
      rows: this.#rows.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
      merged: this.#rows.filter(({ merged }) => merged).length,
      conflicts: this.#conflicts,
      leftOut,
      isForced: this.#isForced,
      befores: this.#befores,
    };
  }

  #keepBefore({ path, theirs }: TouchedPath): void {
    if (theirs?.type === 'link') {
      this.#befores.push({ path, to: this.#scope.contents.linkOf({ path, entry: theirs }) });
    } else if (theirs?.type === 'file') {
      const { size, mtimeMs } = seenOf(theirs);
      this.#befores.push({ path, size, mtimeMs });
    }
  }

  #takeUncertain(one: TouchedPath, standing: Standing, row: Row): void {
    const kind = row.kind === 'renamed' ? (one.mine ? 'added' : 'deleted') : row.kind;
    if (standing.state === 'done') return;
    if (standing.state === 'clear') {
      this.#keepBefore(one);
      this.#apply(one, kind);
    } else {
      const { conflict, merged } = standing;
      const { onConflict } = this.#options;
      const isMerged = onConflict === 'merge' && merged !== undefined;
      if (onConflict === 'theirs') return void this.#kept.push(one.path);
      if (onConflict !== 'mine' && !isMerged) return void this.#conflicts.push(conflict);
      this.#isForced ||= !isMerged;
      this.#apply(one, kind, isMerged ? merged : undefined);
      if (isMerged) return void this.#rows.push({ path: one.path, kind, merged: true });
    }
    this.#rows.push({ path: one.path, kind });
  }

  #rename({ of, isExact }: Row): void {
    const [from, to] = of as readonly [TouchedPath, TouchedPath];
    if (!isExact || !from.theirs) {
      this.#apply(from, 'deleted');
      this.#apply(to, 'added');
      return;
    }
    this.#kept.push(from.path);
    this.#moves.push({ kind: 'move', path: from.path, to: to.path });
    this.#mode(to.path, to.mine!, from.theirs);
  }

  #apply(one: TouchedPath, kind: RowKind, merged?: string): void {
    const { path, mine, theirs } = one;
    if (!mine) {
      if (theirs?.type === 'directory') this.#deletions.push({ kind: 'delete', path, ifEmpty: true });
      else if (theirs) this.#deletions.push({ kind: 'delete', path, seen: seenOf(theirs) });
      return;
    }
    if (mine.type === 'directory') return this.#directory(one, mine);
    const isOther = theirs !== undefined && theirs.type !== mine.type;
    if (isOther && theirs.type !== 'directory') this.#deletions.push({ kind: 'delete', path, seen: seenOf(theirs) });
    if (isOther && theirs.type === 'directory' && one.base?.type !== 'directory')
      this.#deletions.push({ kind: 'delete', path });
    const seen = isOther ? undefined : theirs ? seenOf(theirs) : 'nothing';
    const mode = theirs && !isOther && bitsOf(mine) === bitsOf(theirs) ? undefined : bitsOf(mine) & 0o1777;
    if (merged !== undefined) {
      this.#puts.push({ kind: 'write', path, content: Buffer.from(merged), seen, mode });
    } else if (kind === 'mode' && theirs?.type === 'file') {
      this.#mode(path, mine, theirs);
    } else {
      const from = { jail: this.#scope.jails[mine.in], path };
      const how = !theirs && this.#isRenamable(path, mine) ? 'rename' : 'copy';
      this.#puts.push({ kind: 'bring', path, from, how, mode: how === 'copy' ? mode : undefined, seen });
    }
  }

  #directory({ path, theirs }: TouchedPath, mine: LayerEntry): void {
    if (theirs?.type === 'directory') return this.#mode(path, mine, theirs);
    this.#puts.push({ kind: 'restore', path, state: { kind: 'directory', mode: 0o755 } });
  }

  #takeTree(tree: NewTree): void {
    const isRenamed = !this.#options.isPart && tree.isWhole && tree.entries.every(({ mine }) => isPlain(mine!));
    const isHere = isRenamed && Number(tree.entries[0]!.mine!.stat.dev) === this.#device;
    if (isHere) {
      const from = { jail: this.#scope.jails.upper, path: tree.path };
      this.#puts.push({ kind: 'bring', path: tree.path, from, how: 'rename', seen: 'nothing' });
    } else {
      this.directories(tree.entries.filter(({ mine }) => mine!.type === 'directory'));
      for (const one of tree.entries) this.#apply(one, 'added');
    }
    this.#rows.push({ path: tree.path, kind: 'tree' });
  }

  #mode(path: string, mine: LayerEntry, theirs: LayerEntry): void {
    const mode = bitsOf(mine) & 0o1777;
    if (mode !== bitsOf(theirs)) this.#modes.push({ kind: 'mode', path, mode });
  }

  /** A file that was copied up carries attributes of overlayfs, so it is copied. */
  #isRenamable(path: string, mine: LayerEntry): boolean {
    if (this.#options.isPart || mine.in !== 'upper' || Number(mine.stat.dev) !== this.#device) return false;
    const { isCopiedUp, inodeInView } = copiedUp(path, this.#scope.jails);
    return !isCopiedUp && inodeInView === mine.stat.ino;
  }

  /** Whether everything in a directory is deleted, and the workspace has nothing else in it. */
  #isWhollyGone(path: string): boolean {
    if (this.#kept.some((one) => isWithin(one, [path])) || this.#conflicts.some((one) => isWithin(one.path, [path])))
      return false;
    const { rows, goneDirectories } = this.#inspection;
    this.#gone ??= new Set([
      ...rows.flatMap(({ of }) => of.flatMap((one) => (one.mine ? [] : [one.path]))),
      ...goneDirectories,
    ]);
    return isAllIn(this.#gone, path, this.#scope.jails.live);
  }
}

function isAllIn(paths: ReadonlySet<string>, path: string, live: Jail): boolean {
  try {
    using dir = live.openDir(path);
    for (const batch of dir.entries()) {
      for (const { name, kind } of batch) {
        const below = dir.pathOf(name);
        if (!paths.has(below) || (kind === 'directory' && !isAllIn(paths, below, live))) return false;
      }
    }
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return false;
  }
}

/** Without set-id bits. */
function isPlain({ stat, type }: LayerEntry): boolean {
  return type !== 'file' || (stat.mode & 0o6000n) === 0n;
}

function seenOf({ stat }: LayerEntry): Exclude<Seen, 'nothing'> {
  // As Node computes it: compared for equality later.
  const mtimeMs = Number(stat.mtimeNs / 1_000_000_000n) * 1000 + Number(stat.mtimeNs % 1_000_000_000n) / 1_000_000;
  return { ino: Number(stat.ino), size: Number(stat.size), mtimeMs };
}

function deviceOf(jail: Jail): number {
  using dir = jail.openDir('.');
  return dir.stat.dev;
}

function shown({ path, kind, from }: Row): CommitRow {
  return { path, kind, ...(from !== undefined && { from }) };
}
