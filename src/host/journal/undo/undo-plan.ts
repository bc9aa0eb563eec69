/**
 * Plans an undo: the write set entries that restore every path of the records, newest record first, and the conflicts.
 *
 * A path is restored only if it is still as its record left it. Undo reads and changes no path but those of the
 * records.
 */
import { isUtf8 } from 'node:buffer';

import { versionOf } from '../../changes/jail-version.ts';
import type { Jail } from '../../jail/jail.ts';
import type { Journal } from '../journal.ts';
import { merge3 } from './merge3.ts';
import { formerContent, leftContent } from '../record-contents.ts';
import { isLost, type FileState, type JournalChange, type JournalRecord, type State } from '../records.ts';
import { bitsOf, isSame, spell, type Bits } from './permission-bits.ts';
import type { SetEntry } from '../set-entry.ts';
import { lossesOf, type UndoLoss } from './undo-losses.ts';
import { VirtualTree, versionIn, type Found } from './virtual-tree.ts';

export type OnConflict = 'refuse' | 'merge' | 'skip';

/** A path that was changed since its record. */
export interface UndoConflict {
  readonly path: string;
  /** A version; `absent` for a missing path, or the kind of an entry that has no version. */
  readonly left_version: string;
  readonly found_version: string;
  readonly mergeable: boolean;
}

export interface UndoneRecord {
  readonly record: JournalRecord;
  /** Its changes that are undone by the plan, or were undone by another program. */
  readonly changes: JournalChange[];
  /** Number of its other changes that are not undone. */
  left: number;
  restored: number;
  removed: number;
  skipped: number;
}

export interface UndoPlan {
  readonly entries: readonly SetEntry[];
  readonly undone: readonly UndoneRecord[];
  readonly conflicts: readonly UndoConflict[];
  /** Conflicts that `onConflict: 'skip'` leaves as they are. */
  readonly skipped: readonly UndoConflict[];
  readonly losses: readonly UndoLoss[];
}

export interface PlanUndoOptions {
  readonly onConflict: OnConflict;
  /** True if the caller asked to undo this path of the record, and it is not undone. */
  readonly isSelected: (record: JournalRecord, path: string) => boolean;
  readonly signal: AbortSignal;
}

export async function planUndo(
  records: readonly JournalRecord[],
  { jail, journal }: { jail: Jail; journal: Journal },
  options: PlanUndoOptions,
): Promise<UndoPlan> {
  const planner = new Planner(jail, journal, options);
  const undone: UndoneRecord[] = [];
  for (const record of records) {
    const counted: UndoneRecord = { record, changes: [], left: 0, restored: 0, removed: 0, skipped: 0 };
    for (const change of record.changes.toReversed()) {
      options.signal.throwIfAborted();
      const { skipped } = counted;
      const isSelected = options.isSelected(record, change.path);
      if (isSelected) await planner.take(change, counted);
      if (isSelected && counted.skipped === skipped) counted.changes.push(change);
      else if (record.undonePaths?.has(change.path) !== true) counted.left++;
    }
    undone.push(counted);
  }
  return {
    entries: planner.entries,
    undone,
    conflicts: planner.conflicts,
    skipped: planner.skipped,
    losses: [...planner.losses, ...(await lossesOf(planner.entries, journal, options))],
  };
}

class Planner {
  readonly conflicts: UndoConflict[] = [];
  readonly skipped: UndoConflict[] = [];
  readonly losses: UndoLoss[] = [];
  readonly #journal: Journal;
  readonly #options: PlanUndoOptions;
  readonly #tree: VirtualTree;
  /** Permission bits that paths have after the entries planned so far. */
  readonly #modes = new Map<string, Bits>();
  #entries: (SetEntry | undefined)[] = [];
  /** Index of the last restore of a path in the entries; cleared by an entry that later restores must stay after. */
  readonly #puts = new Map<string, { at: number; wasAbsent: boolean }>();

  constructor(jail: Jail, journal: Journal, options: PlanUndoOptions) {
    this.#journal = journal;
    this.#options = options;
    this.#tree = new VirtualTree(jail, journal.store);
  }

  get entries(): SetEntry[] {
    return this.#entries.filter((entry) => entry !== undefined);
  }

  async take(change: JournalChange, counted: UndoneRecord): Promise<void> {
    const { path, kind, before, after } = change;
    const found = this.#tree.find(path);
    if (kind === 'move') return this.#takeMove(change, found, counted);
    if (kind === 'mode') return this.#takeMode(change, found, counted);

    // A directory created as a parent of a new file: undo removes it if it is empty by then.
    if (after.kind === 'directory' && before.kind === 'absent' && after.contents === undefined && !after.tree) {
      if (found.state.kind !== 'directory') return;
      this.#push({ kind: 'delete', path, ifEmpty: true });
      if (!this.#tree.isEmptied(path)) return;
      this.#tree.set(path, before);
      counted.removed++;
      return;
    }
    if (await this.#isStill(path, found, before)) return;
    if (!(await this.#isStill(path, found, after))) return await this.#clash(change, found, counted);
    if (isLost(before)) {
      this.losses.push({ path, problem: 'was not kept when it was changed' });
      return;
    }
    this.#put(path, before, found);
    this.#keepMode(change, found);
    if (before.kind === 'absent') counted.removed++;
    else counted.restored++;
  }

  #takeMove({ path, from, before, after }: JournalChange, found: Found, counted: UndoneRecord): void {
    const isThere = found.state.kind === after.kind;
    const isFree = this.#tree.find(from!).state.kind === 'absent';
    if (!isThere && !isFree) return;
    if (!isThere || !isFree) {
      this.#conflict(
        isThere ? from! : path,
        {
          left: isThere ? 'absent' : after.kind,
          found: isThere ? this.#tree.find(from!).state.kind : found.state.kind,
        },
        counted,
      );
      return;
    }
    if (isLost(before)) {
      this.losses.push({ path, problem: 'was not kept when it was replaced' });
      return;
    }
    this.#push({ kind: 'move', path, to: from! });
    this.#tree.move(path, from!);
    counted.restored++;
    if (before.kind === 'absent') return;
    this.#tree.set(path, before);
    this.#push({ kind: 'restore', path, state: before });
  }

  #takeMode({ path, before, after }: JournalChange, { state }: Found, counted: UndoneRecord): void {
    const [was, left] = [before, after].map(bitsOf);
    const now = this.#modes.get(path) ?? bitsOf(state);
    if (!was || !left || isSame(now, was)) return;
    if (!isSame(now, left)) {
      this.#conflict(path, { left: spell(left), found: now ? spell(now) : state.kind }, counted);
      return;
    }
    const { mode, uid, gid } = was;
    const isOwned = uid === left.uid && gid === left.gid;
    this.#push({ kind: 'mode', path, mode, ...(!isOwned && { uid, gid }) });
    this.#modes.set(path, was);
    counted.restored++;
  }

  /** A file whose mode was changed since its record keeps the mode. */
  #keepMode({ path, before, after }: JournalChange, { state }: Found): void {
    if (before.kind !== 'file' || after.kind !== 'file' || state.kind !== 'file') return;
    if (state.mode === after.mode || state.mode === before.mode) return;
    this.#push({ kind: 'mode', path, mode: state.mode });
    this.#tree.set(path, { ...before, mode: state.mode });
  }

  async #clash(change: JournalChange, found: Found, counted: UndoneRecord): Promise<void> {
    const { path, after } = change;
    const merged = await this.#merge(change, found);
    if (merged !== undefined && this.#options.onConflict === 'merge') {
      const content = Buffer.from(merged);
      this.#push({ kind: 'write', path, content, ...seenAt(found) });
      // An older record of the path is merged into this content.
      const made = { ...(found.state as FileState), size: content.length, version: versionOf(content) };
      this.#tree.setContent(path, made, content);
      counted.restored++;
      return;
    }
    const versions = { left: versionText(after), found: (await versionIn(found)) ?? found.state.kind };
    this.#conflict(path, versions, counted, merged !== undefined);
  }

  #conflict(path: string, { left, found }: { left: string; found: string }, counted: UndoneRecord, mergeable = false) {
    const isSkipped = this.#options.onConflict === 'skip';
    if (isSkipped) counted.skipped++;
    const all = isSkipped ? this.skipped : this.conflicts;
    all.push({ path, left_version: left, found_version: found, mergeable });
  }

  /** Merges the later edits with the undo. Undefined on a conflict, or if a content is unknown or is not UTF-8. */
  async #merge({ path, before, after }: JournalChange, found: Found): Promise<string | undefined> {
    if (before.kind !== 'file' || after.kind !== 'file' || found.state.kind !== 'file') return undefined;
    const theirs = formerContent(this.#journal, before);
    const base = leftContent(this.#journal, path, { before, after });
    if (!theirs || !base) return undefined;
    const texts = [base, await found.read(), theirs];
    if (!texts.every((bytes) => isUtf8(bytes))) return undefined;
    const [first, mine, second] = texts.map(String) as [string, string, string];
    return merge3(first, mine, second);
  }

  async #isStill(path: string, found: Found, state: State): Promise<boolean> {
    const { state: now } = found;
    if (now.kind !== state.kind) return false;
    if (now.kind === 'link' && state.kind === 'link') return now.to === state.to;
    if (now.kind === 'file' && state.kind === 'file') {
      if (state.version === undefined) return now.size === state.size && now.mtimeMs === state.mtimeMs;
      return now.size === state.size && (await versionIn(found)) === state.version;
    }
    if (state.kind !== 'directory' || state.contents === undefined) return now.kind !== 'other';
    const contents = await this.#tree.contentsOf(path, this.#options);
    // Undefined if this undo changes a path below; that path was checked by itself.
    return contents === undefined || contents === state.contents;
  }

  /** Restores a path that several records changed only once, to its oldest state. */
  #put(path: string, state: State, found: Found): void {
    const isSimple = state.kind !== 'directory' && found.state.kind !== 'directory';
    const known = isSimple ? this.#puts.get(path) : undefined;
    this.#tree.set(path, state);
    const seen = known ? seenIn(this.#entries[known.at]) : seenAt(found).seen;
    const entry: SetEntry = { kind: 'restore', path, state, ...(seen && { seen }) };
    if (!known) {
      this.#push(entry, { isSimple, wasAbsent: found.state.kind === 'absent' });
    } else {
      this.#entries[known.at] = known.wasAbsent && state.kind === 'absent' ? undefined : entry;
    }
  }

  #push(entry: SetEntry, { isSimple, wasAbsent } = { isSimple: false, wasAbsent: false }): void {
    // Restores after an entry such as the move of a directory must stay after it, so they cannot replace earlier ones.
    if (!isSimple) this.#puts.clear();
    else this.#puts.set(entry.path, { at: this.#entries.length, wasAbsent });
    this.#entries.push(entry);
  }
}

function seenAt({ stat, state }: Found): { seen?: Extract<SetEntry, { kind: 'restore' }>['seen'] } {
  if (stat) return { seen: { ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs } };
  return state.kind === 'absent' ? { seen: 'nothing' } : {};
}

function seenIn(entry: SetEntry | undefined) {
  return entry?.kind === 'restore' ? entry.seen : undefined;
}

function versionText(state: State): string {
  return state.kind === 'file' ? (state.version ?? `${state.size} bytes`) : state.kind;
}
