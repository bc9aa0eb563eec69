/** One call in a row: its line and its outcome. */
import type { ChangedLines, ShownCall } from '../call-log.ts';
import { changedByCall } from '../live/changes.ts';
import { Badge } from './layout.tsx';

/** The path, command or pattern of a call, and how many lines it changed. */
export function CallLine({ call: { id, line, changed } }: { call: Pick<ShownCall, 'id' | 'line' | 'changed'> }) {
  const counts = changed ?? changedByCall.value.get(id);
  return (
    <>
      {line}
      {counts && <ChangedCounts changed={counts} />}
    </>
  );
}

export function ChangedCounts({ changed: { files, added, removed } }: { changed: ChangedLines }) {
  return (
    <span class="counts">
      {files > 1 && <span class="quiet">{files} files</span>}
      {added > 0 && <span class="diff-count">+{added}</span>}
      {removed > 0 && (
        <span class="diff-count" data-sign="-">
          −{removed}
        </span>
      )}
    </span>
  );
}

export function OutcomeBadge({ call: { outcome, says } }: { call: Pick<ShownCall, 'outcome' | 'says'> }) {
  return <Badge kind={outcome}>{says}</Badge>;
}
