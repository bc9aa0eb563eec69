/** Undoes the changes of calls: selects the records, and restores their paths in one write set. */
import type { ChangeScope, JailChanges } from '../../changes/jail-changes.ts';
import type { Jail } from '../../jail/jail.ts';
import type { Journal } from '../journal.ts';
import type { JournalRecord, State } from '../records.ts';
import type { SetOutcome } from '../set-entry.ts';
import { planUndo, type OnConflict, type PlanUndoOptions, type UndoPlan } from './undo-plan.ts';

/** Selects the records to undo; at most one field is set. */
export interface UndoSelector {
  /** Number of records, counted from the newest. */
  readonly steps?: number;
  readonly turnId?: string;
  readonly seq?: number;
  /** All records after this one. */
  readonly toSeq?: number;
  /** All records after the newest checkpoint of this name. */
  readonly toLabel?: string;
}

export interface UndoRequest {
  readonly select: UndoSelector;
  /** Relative to the root; all paths if undefined. */
  readonly paths?: readonly string[];
  readonly onConflict: OnConflict;
  /** Selects the records of other callers too. */
  readonly anyone: boolean;
}

/** The selector matches no record that can be undone. */
export class NoRecord extends Error {
  override readonly name = 'NoRecord';
  /** True if the record was evicted. */
  readonly isEvicted: boolean;
  /** True if the record can be undone, but belongs to another caller. */
  readonly isForeign: boolean;

  constructor(message: string, { isEvicted = false, isForeign = false } = {}) {
    super(message);
    this.isEvicted = isEvicted;
    this.isForeign = isForeign;
  }
}

export interface UndoContext {
  readonly jail: Jail;
  readonly journal: Journal;
  readonly changes: JailChanges;
}

export async function findUndo(request: UndoRequest, context: UndoContext, scope: ChangeScope): Promise<UndoPlan> {
  const { paths, onConflict } = request;
  const isSelected = ({ undonePaths }: JournalRecord, path: string) =>
    undonePaths?.has(path) !== true &&
    (paths?.some((one) => one === '' || path === one || path.startsWith(`${one}/`)) ?? true);
  const records = () => selected(request, { ...context, isSelected }, scope.call?.principal?.id);
  await context.journal.sums.settle(records());
  return planUndo(records(), context, { onConflict, isSelected, signal: scope.signal });
}

/** Runs a plan that has no conflicts and no losses. */
export async function makeUndo(
  { entries, undone }: UndoPlan,
  { changes, journal }: UndoContext,
  scope: ChangeScope,
): Promise<SetOutcome> {
  const parts = undone.filter(({ record, left }) => left > 0 || record.undonePaths !== undefined);
  const undoesOnly = Object.fromEntries(
    parts.map(({ record, changes }) => [record.seq, changes.map(({ path }) => path)]),
  );
  const undoes = undone.filter(({ changes }) => changes.length > 0).map(({ record }) => record.seq);
  const outcome = await changes.writeSet(entries, scope, { undoes, ...(parts.length > 0 && { undoesOnly }) });
  for (const one of undone) for (const { before } of one.changes) await dropImage(before, journal.store);
  return outcome;
}

/** The selected records, newest first. Reads only as far into the journal as it has to. */
function selected(
  { select, anyone }: UndoRequest,
  { journal, isSelected }: Pick<UndoContext, 'journal'> & Pick<PlanUndoOptions, 'isSelected'>,
  caller: string | undefined,
): JournalRecord[] {
  const { steps = 1, turnId, seq, toSeq, toLabel } = select;
  const hasSelected = (record: JournalRecord) => record.changes.some(({ path }) => isSelected(record, path));
  const isOwn = (record: JournalRecord) => anyone || record.caller === caller;
  if (seq !== undefined) {
    const record = one(journal, seq);
    if (!hasSelected(record)) throw new NoRecord(`record ${seq} changed none of these paths`);
    if (isOwn(record)) return [record];
    throw new NoRecord(`record ${seq} belongs to another caller; send anyone: true to undo it`, { isForeign: true });
  }
  const isDone = (record: JournalRecord) => record.changes.length > 0 && record.undoneBy === undefined && isOwn(record);
  const found: JournalRecord[] = [];
  const needed = (problem: string): JournalRecord[] => {
    if (found.length > 0) return found;
    const done = [...journal.newestFirst()].filter(isDone);
    const isElsewhere = done.length > 0 && !done.some(hasSelected);
    throw new NoRecord(isElsewhere ? 'no record changed these paths' : problem);
  };

  const isUndo = undoSigns(journal.records());
  if (toSeq !== undefined || toLabel !== undefined) {
    const lastSeq = toSeq ?? labelled(journal, toLabel!);
    if (lastSeq < journal.evicted) {
      throw new NoRecord(`records after ${lastSeq} were evicted by the limits of the journal`, { isEvicted: true });
    }
    for (const record of journal.newestFirst()) {
      if (record.seq <= lastSeq) break;
      // An undo of only such records and they already cancel each other out.
      const isBack = isUndo(record) && record.undoes!.length > 0 && record.undoes!.every((undone) => undone > lastSeq);
      if (isDone(record) && hasSelected(record) && !isBack) found.push(record);
    }
    return needed(`nothing was changed after record ${lastSeq}`);
  }
  for (const record of journal.newestFirst()) {
    if (turnId === undefined && found.length === steps) break;
    const isTurn = turnId === undefined || record.turnId === turnId;
    if (isTurn && isDone(record) && hasSelected(record) && !isUndo(record)) found.push(record);
  }
  if (turnId !== undefined) return needed(`no record of turn ${JSON.stringify(turnId)} is left to undo`);
  return needed(`there is nothing ${anyone ? '' : 'of this caller '}to undo`);
}

function one(journal: Journal, seq: number): JournalRecord {
  const record = journal.records().get(seq);
  if (!record) throw new NoRecord(`there is no record ${seq}`, { isEvicted: seq <= journal.evicted });
  if (record.undoneBy !== undefined) {
    throw new NoRecord(`record ${seq} ${whatBecameOf(record, journal.records())}`);
  }
  if (record.changes.length === 0) throw new NoRecord(`record ${seq} changed nothing`);
  return record;
}

/** An undo can be undone too (a redo): the last record of that chain decides whether the change is in effect. */
function whatBecameOf({ undoneBy }: JournalRecord, records: ReadonlyMap<number, JournalRecord>): string {
  const chain: number[] = [];
  // Only a forged log has a record that was undone by an earlier one.
  for (let next = undoneBy; next !== undefined && next > (chain.at(-1) ?? 0); next = records.get(next)?.undoneBy) {
    chain.push(next);
  }
  const last = chain.at(-1)!;
  if (chain.length % 2 === 1) return `is undone already, by record ${last}`;
  return `was undone and redone, by record ${last}: to undo it again, undo record ${last}`;
}

function labelled(journal: Journal, label: string): number {
  for (const record of journal.newestFirst()) if (record.label === label) return record.seq;
  throw new NoRecord(`there is no checkpoint ${JSON.stringify(label)}`);
}

/** True for an undo of an edit; the undo of an undo makes the edit again and counts as an edit. */
function undoSigns(records: ReadonlyMap<number, JournalRecord>): (record: JournalRecord) => boolean {
  const known = new Map<number, boolean>();
  return (record) => {
    // A chain of redos may be as long as the journal: it is walked once, and not on the stack.
    const chain: number[] = [];
    let at: JournalRecord | undefined = record;
    for (; at?.undoes && !known.has(at.seq); at = undoneFirst(at, records)) chain.push(at.seq);
    let isUndo: boolean = at ? (known.get(at.seq) ?? false) : false;
    for (const seq of chain.toReversed()) known.set(seq, (isUndo = !isUndo));
    return isUndo;
  };
}

/** Undefined if it was evicted. Only a forged log has a record that undid a later one. */
function undoneFirst(
  { seq, undoes }: JournalRecord,
  records: ReadonlyMap<number, JournalRecord>,
): JournalRecord | undefined {
  const first = undoes?.[0];
  return first !== undefined && first < seq ? records.get(first) : undefined;
}

/** Removes the before-image of an undone change: the restored file may be a hard link to it and be edited in place. */
async function dropImage(before: State, store: Journal['store']): Promise<void> {
  if (before.kind === 'file' && before.image !== undefined) store.drop(before.image);
  if (before.kind === 'directory' && before.tree !== undefined) await store.dropTree(before.tree);
}
