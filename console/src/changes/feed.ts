/** The newest records of the journal, loaded again when a call may have added one. */
import { useEffect, useRef, useState } from 'preact/hooks';

import { functionKeyOf, type CallsReply } from '../call-log.ts';
import { busState, call, catalogue, changingFunctions } from '../session.ts';
import { useWatch } from '../watching.ts';
import { oldestWithoutChanges, withChanges, type ChangeRecord } from './records.ts';

interface Feed {
  /** The newest first. */
  records: ChangeRecord[];
  isMore: boolean;
}

const LIST = 'coder::checkpoints';

export function useFeed(limit: number) {
  const [feed, setFeed] = useState<Feed | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const seenCall = useRef<number | undefined>(undefined);
  const isServed = catalogue.value?.some(({ key }) => key === LIST) ?? false;
  useEffect(() => {
    seenCall.current = undefined;
  }, [busState.value, limit, isServed]);

  const load = async () => {
    if (!isServed) return;
    // Listing records is a call too, which the engine reports: loading after every call would never end.
    const since = seenCall.current;
    const { ended, latest } = await call<CallsReply>('engine::calls::list', { since: since ?? 0 });
    seenCall.current = latest;
    const changing = changingFunctions();
    if (since !== undefined && !ended.some((one) => changing.has(functionKeyOf(one)))) return;
    setFeed(await loadFeed(limit, feed?.records ?? []));
    setError(undefined);
  };
  useWatch('engine::watch', () => load().catch(setError), [limit, isServed]);
  return { ...feed, error, isMissing: catalogue.value !== undefined && !isServed };
}

/** Computing diffs reads files, so only those of new records are asked for. */
async function loadFeed(limit: number, known: ChangeRecord[]): Promise<Feed> {
  const listed = await call<{ records: ChangeRecord[]; truncated: boolean }>(LIST, { limit });
  const records = withChanges(listed.records, known);
  const isMore = listed.truncated;
  const oldest = oldestWithoutChanges(records);
  if (oldest === undefined) return { records, isMore };
  const asked = { limit, since_seq: oldest - 1, diffs: true };
  const { records: fresh } = await call<{ records: ChangeRecord[] }>(LIST, asked);
  return { records: withChanges(records, fresh), isMore };
}
