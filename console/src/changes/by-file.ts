/** The journal by file: the changes of each, newest first. */
import type { Change } from '../../../src/protocol/change.ts';
import { lineCounts, type ChangeRecord } from './records.ts';

export interface ChangedFile {
  path: string;
  /** The kind of the newest change. */
  kind: Change['kind'];
  added: number;
  removed: number;
  /** The records that changed the file, newest first, each with this change alone. */
  records: (ChangeRecord & { changes: [Change] })[];
}

/** Files, the last changed first. Undone records count too: their changes did happen. */
export function filesOf(records: ChangeRecord[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const record of records) {
    for (const change of record.changes ?? []) {
      if (change.is_directory) continue;
      const { added, removed } = lineCounts(change);
      const known = files.get(change.path) ?? {
        path: change.path,
        kind: change.kind,
        added: 0,
        removed: 0,
        records: [],
      };
      known.added += added;
      known.removed += removed;
      known.records.push({ ...record, changes: [change] });
      files.set(change.path, known);
    }
  }
  return [...files.values()];
}
