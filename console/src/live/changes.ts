/** The newest records of the journal, loaded again when a call may have added one. */
import { computed, signal } from '@preact/signals';

import type { Change } from '../../../src/protocol/change.ts';
import type { ChangedLines } from '../call-log.ts';
import { lineCounts, oldestWithoutChanges, withChanges, type ChangeRecord } from '../changes/records.ts';
import { call, isServed } from '../session.ts';
import { ChangingCalls } from './changing-calls.ts';

interface Feed {
  /** The newest first. */
  records: ChangeRecord[];
  isMore: boolean;
}

export const JOURNAL = 'coder::checkpoints';
const RECORDS_A_PAGE = 30;
/** `coder::checkpoints` returns no more. */
const MOST_RECORDS = 1_000;

export const feed = signal<Feed | undefined>(undefined);
export const feedError = signal<unknown>(undefined);
/** How many records are loaded at most. */
const limit = signal(RECORDS_A_PAGE);
const changingCalls = new ChangingCalls();

/** Changed lines of calls that ended before a console was open, from the journal. */
export const changedByCall = computed(() => {
  const records = (feed.value?.records ?? []).filter(({ call_id: id, changes }) => id !== undefined && changes);
  return new Map(records.map(({ call_id: id, changes }) => [id!, sumOf(changes!)]));
});

function sumOf(changes: Change[]): ChangedLines {
  const counts = changes.map(lineCounts);
  const sum = (of: 'added' | 'removed') => counts.reduce((total, one) => total + one[of], 0);
  return { files: changes.length, added: sum('added'), removed: sum('removed') };
}

/** Loads the records again: the journal may have been replaced, or the user wants more of it. */
export function reloadFeed(): void {
  changingCalls.forget();
}

export async function loadFeed(): Promise<void> {
  if (!isServed(JOURNAL)) return;
  try {
    if (!(await changingCalls.haveEnded())) return;
    feed.value = await loadRecords(limit.value, feed.value?.records ?? []);
    feedError.value = undefined;
  } catch (error) {
    changingCalls.forget();
    feedError.value = error;
  }
}

/** Loads older records too, all of them if a record is wanted that is not here. */
export function loadOlder(most = limit.value + RECORDS_A_PAGE): void {
  if (limit.value >= MOST_RECORDS) return;
  limit.value = Math.min(most, MOST_RECORDS);
  reloadFeed();
  void loadFeed();
}

export const loadAll = () => loadOlder(MOST_RECORDS);

/** Computing diffs reads files, so only those of new records are requested. */
async function loadRecords(most: number, known: ChangeRecord[]): Promise<Feed> {
  const listed = await call<{ records: ChangeRecord[]; truncated: boolean }>(JOURNAL, { limit: most });
  const records = withChanges(listed.records, known);
  const isMore = listed.truncated && most < MOST_RECORDS;
  const oldest = oldestWithoutChanges(records);
  if (oldest === undefined) return { records, isMore };
  const asked = { limit: most, since_seq: oldest - 1, diffs: true };
  const { records: fresh } = await call<{ records: ChangeRecord[] }>(JOURNAL, asked);
  return { records: withChanges(records, fresh), isMore };
}
