/** Records of the journal as the Changes page shows them: their diffs, and the requests that undo or redo each. */
import type { Change } from '../../../src/protocol/change.ts';

/** A record of the journal. */
export interface ChangeRecord {
  seq: number;
  ts: number;
  function_id?: string;
  turn_id?: string;
  caller?: string;
  caller_label?: string;
  /** The call that made it. */
  call_id?: string;
  label?: string;
  files: string[];
  file_count: number;
  /** Files whose former content was not kept. */
  skipped: number;
  bytes: number;
  undoes?: number[];
  undone_by?: number;
  /** Changes of the first 100 files; absent until loaded. */
  changes?: Change[];
}

export interface Step {
  action: 'Undo' | 'Redo';
  /** Number of its record, for undo. */
  seq: number;
}

export function bySeqOf(records: ChangeRecord[]): ReadonlyMap<number, ChangeRecord> {
  return new Map(records.map((one) => [one.seq, one]));
}

/** An undo can be undone too, which redoes: the last record of that chain is the one to undo next. */
export function nextStep(record: ChangeRecord, bySeq: ReadonlyMap<number, ChangeRecord>): Step {
  const chain = [record.seq];
  for (let next = record.undone_by; next !== undefined; next = bySeq.get(next)?.undone_by) chain.push(next);
  return { action: chain.length % 2 === 1 ? 'Undo' : 'Redo', seq: chain.at(-1)! };
}

/** Rows with the diffs of those loaded before. A call that still runs may have added to its record since. */
export function withChanges(rows: ChangeRecord[], loaded: ChangeRecord[]): ChangeRecord[] {
  const known = bySeqOf(loaded);
  return rows.map((row) => {
    const old = known.get(row.seq);
    // The journal keeps no bytes for a record that is undone.
    const isSame = old?.file_count === row.file_count && (old.bytes === row.bytes || row.undone_by !== undefined);
    return isSame && row.changes === undefined && old.changes ? { ...row, changes: old.changes } : row;
  });
}

/** The oldest record whose diffs are not loaded. */
export function oldestWithoutChanges(records: ChangeRecord[]): number | undefined {
  return records.findLast(({ changes }) => changes === undefined)?.seq;
}

export function lineCounts({ hunks = [] }: Change): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count('+'), removed: count('-') };
}

const UUID = /:[\da-f]{8}-[\da-f-]{27}$/;

/** Its name; in older records its id, without the id of the connection, which is useless once it is closed. */
export function callerOf({ caller_label: label, caller = 'an unnamed caller' }: ChangeRecord): string {
  return label ?? caller.replace(UUID, '');
}
