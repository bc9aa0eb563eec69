/**
 * Preview of the changes of a waiting call: the console makes the call in a change of its own, shows the diff, discards
 * it.
 *
 * Only calls that do nothing but change files: a command would run before it was approved.
 */
import { useState } from 'preact/hooks';

import type { ChangeDiff } from '../changes/open-change.ts';
import type { Entry } from '../catalogue.ts';
import { call, catalogue } from '../session.ts';
import { ChangedFileRow } from './changed-file.tsx';
import { FailureCard } from './failure-card.tsx';
import { JsonView } from './json-view.tsx';

export interface Previewed {
  function_id: string;
  payload: unknown;
}

export function ApprovalPreview({ one }: { one: Previewed }) {
  const [diff, setDiff] = useState<ChangeDiff | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isAsked, setAsked] = useState(false);
  const show = () => {
    if (isAsked || !isPreviewed(one)) return;
    setAsked(true);
    diffOf(one).then(setDiff, setError);
  };
  return (
    <details onToggle={show}>
      <summary class="quiet">What it would do</summary>
      {diff && diff.deleted.length > 0 && <p>deletes {diff.deleted.join(', ')}</p>}
      {diff?.files
        .filter(({ kind }) => kind !== 'deleted')
        .map((file) => (
          <ChangedFileRow key={file.path} file={file} />
        ))}
      {error !== undefined && <FailureCard error={error} />}
      <JsonView value={one.payload} />
    </details>
  );
}

function isPreviewed({ function_id }: Previewed): boolean {
  const find = (id: string) => catalogue.value?.find(({ key }) => key === id);
  return find('change::begin') !== undefined && isFilesOnly(find(function_id));
}

function isFilesOnly(entry: Entry | undefined): boolean {
  return entry?.takesChange === true && (entry.effect === 'write' || entry.effect === 'delete');
}

async function diffOf({ function_id, payload }: Previewed): Promise<ChangeDiff> {
  const { change } = await call<{ change: string }>('change::begin', { note: 'preview of a call that waits' });
  try {
    await call(function_id, payload, { metadata: { change } });
    return await call<ChangeDiff>('change::diff', { change });
  } finally {
    await call('change::discard', { change });
  }
}
