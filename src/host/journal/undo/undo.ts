/** Undoes what calls changed: selects the records, and restores their paths in one write set. */
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

  constructor(message: string, { isEvicted }: { isEvicted: boolean }) {
    super(message);
    this.isEvicted = isEvicted;
  }
}

export interface UndoContext {
  readonly jail: Jail;
  readonly journal: Journal;
  readonly changes: JailChanges;
}

export async function findUndo(request: UndoRequest, context: UndoContext, scope: ChangeScope): Promise<UndoPlan> {
  const { paths, onConflict } = request;
  const isMeant = ({ undonePaths }: JournalRecord, path: string) =>
    undonePaths?.has(path) !== true &&
    (paths?.some((one) => one === '' || path === one || path.startsWith(`${one}/`)) ?? true);
  const records = () => selected(request, { ...context, isMeant }, scope.call?.principal?.id);
  await context.journal.sums.settle(records());
  return planUndo(records(), context, { onConflict, isMeant, signal: scope.signal });
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

/** The selected records, newest first. */
function selected(
  { select, anyone }: UndoRequest,
  { journal, isMeant }: Pick<UndoContext, 'journal'> & Pick<PlanUndoOptions, 'isMeant'>,
  caller: string | undefined,
): JournalRecord[] {
  const all = [...journal.records().values()].sort((a, b) => b.seq - a.seq);
  const { steps = 1, turnId, seq, toSeq, toLabel } = select;
  const hasMeant = (record: JournalRecord) => record.changes.some(({ path }) => isMeant(record, path));
  if (seq !== undefined)
    return needed([one(all, seq, journal)].filter(hasMeant), `record ${seq} changed none of these paths`);

  const isOwn = (record: JournalRecord) => anyone || record.caller === caller;
  const isDone = (record: JournalRecord) => record.changes.length > 0 && record.undoneBy === undefined && isOwn(record);
  const known = all.filter(isDone);
  const done = known.filter(hasMeant);
  if (known.length > 0) needed(done, 'no record changed these paths');
  if (toSeq !== undefined || toLabel !== undefined) {
    const place = toSeq ?? labelled(all, toLabel!);
    return needed(sinceThen(done, place, journal), `nothing was changed after record ${place}`);
  }
  const edits = done.filter((record) => !isUndo(record, journal));
  if (turnId !== undefined) {
    return needed(
      edits.filter((record) => record.turnId === turnId),
      `no record of turn ${JSON.stringify(turnId)} is left to undo`,
    );
  }
  return needed(edits.slice(0, steps), `there is nothing ${anyone ? '' : 'of this caller '}to undo`);
}

function one(all: readonly JournalRecord[], seq: number, journal: Journal): JournalRecord {
  const record = all.find((candidate) => candidate.seq === seq);
  if (!record) throw new NoRecord(`there is no record ${seq}`, { isEvicted: seq <= journal.evicted });
  if (record.undoneBy !== undefined) {
    throw new NoRecord(`record ${seq} ${whatBecameOf(record, journal.records())}`, { isEvicted: false });
  }
  if (record.changes.length === 0) throw new NoRecord(`record ${seq} changed nothing`, { isEvicted: false });
  return record;
}

/** An undo can be undone too, which redoes: the last record of that chain says whether the change is there now. */
function whatBecameOf({ undoneBy }: JournalRecord, records: ReadonlyMap<number, JournalRecord>): string {
  const chain: number[] = [];
  for (let next = undoneBy; next !== undefined; next = records.get(next)?.undoneBy) chain.push(next);
  const last = chain.at(-1)!;
  if (chain.length % 2 === 1) return `is undone already, by record ${last}`;
  return `was undone and redone, by record ${last}: to undo it again, undo record ${last}`;
}

function labelled(all: readonly JournalRecord[], label: string): number {
  const found = all.find((record) => record.label === label);
  if (found) return found.seq;
  throw new NoRecord(`there is no checkpoint ${JSON.stringify(label)}`, { isEvicted: false });
}

/** Records after `place`. Skips an undo of only such records: it and they already cancel each other out. */
function sinceThen(done: readonly JournalRecord[], place: number, journal: Journal): JournalRecord[] {
  if (place < journal.evicted) {
    throw new NoRecord(`records after ${place} were evicted by the limits of the journal`, { isEvicted: true });
  }
  return done.filter(
    (record) =>
      record.seq > place &&
      !(isUndo(record, journal) && record.undoes!.length > 0 && record.undoes!.every((one) => one > place)),
  );
}

/** True for an undo of an edit; the undo of an undo makes the edit again and counts as an edit. */
function isUndo({ undoes }: JournalRecord, journal: Journal): boolean {
  if (!undoes) return false;
  const first = undoes[0] === undefined ? undefined : journal.records().get(undoes[0]);
  return !first || !isUndo(first, journal);
}

function needed(records: JournalRecord[], problem: string): JournalRecord[] {
  if (records.length === 0) throw new NoRecord(problem, { isEvicted: false });
  return records;
}

/** Removes the before-image of an undone change: the restored file may be a hard link to it and be edited in place. */
async function dropImage(before: State, store: Journal['store']): Promise<void> {
  if (before.kind === 'file' && before.image !== undefined) store.drop(before.image);
  if (before.kind === 'directory' && before.tree !== undefined) await store.dropTree(before.tree);
}
