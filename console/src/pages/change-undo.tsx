/** Undo or redo of one record: asks once, with a preview; then does it, or shows the conflict. */
import { useState } from 'preact/hooks';

import { CallFailure } from '../bus.ts';
import { callerOf, type ChangeRecord, type Step } from '../changes/records.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { hashOf } from '../route.ts';
import { call } from '../session.ts';

/** The function that undoes records. */
export const UNDO = 'coder::undo';

interface UndoneFile {
  path: string;
  kind: string;
  from?: string;
}

interface Conflict {
  path: string;
  found_version: string;
  mergeable: boolean;
}

export function UndoPanel({ record, step: { action, seq } }: { record: ChangeRecord; step: Step }) {
  const [planned, setPlanned] = useState<UndoneFile[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  // The undo becomes a record of its own, and the page loads the new state of this one.
  const run = (more: object) => {
    setBusy(true);
    setError(undefined);
    setPlanned(undefined);
    return call<{ files: UndoneFile[] }>(UNDO, { seq, anyone: true, ...more })
      .then(({ files }) => files, setError)
      .finally(() => setBusy(false));
  };
  const ask = async () => setPlanned((await run({ dry_run: true })) ?? undefined);

  return (
    <>
      <p class="actions">
        <button type="button" class={action === 'Undo' ? 'danger' : ''} disabled={isBusy} onClick={() => void ask()}>
          {action}
        </button>
      </p>
      {planned && (
        <section class="card" aria-label="Confirmation">
          <p>
            {action} record {record.seq}? {callerOf(record)} made it; the console may undo and redo the changes of every
            caller. These files change:
          </p>
          <ul class="mono">
            {planned.map(({ path, kind, from }) => (
              <li key={path}>
                {kind} {from === undefined ? '' : `${from} → `}
                {path}
              </li>
            ))}
          </ul>
          <p class="actions">
            <button type="button" class="primary" onClick={() => void run({})}>
              {action} record {record.seq}
            </button>
            <button type="button" onClick={() => setPlanned(undefined)}>
              Cancel
            </button>
          </p>
        </section>
      )}
      {error !== undefined && (
        <Hindrance error={error} action={action} onMerge={() => void run({ on_conflict: 'merge' })} />
      )}
    </>
  );
}

interface HindranceProps {
  error: unknown;
  action: Step['action'];
  onMerge: () => void;
}

function Hindrance({ error, action, onMerge }: HindranceProps) {
  const code = error instanceof CallFailure ? error.fields.code : undefined;
  if (code === 'C223') {
    return <Conflicts conflicts={(error as CallFailure).fields.conflicts as Conflict[]} {...{ action, onMerge }} />;
  }
  return (
    <>
      {code === 'C227' && <p class="bad">It cannot be undone: the journal does not have the former content.</p>}
      <FailureCard error={error} />
    </>
  );
}

function Conflicts({ conflicts, action, onMerge }: Omit<HindranceProps, 'error'> & { conflicts: Conflict[] }) {
  const isMergeable = conflicts.every(({ mergeable }) => mergeable);
  return (
    <div class="failure" role="alert">
      <p>
        <a class="code" href="/docs/errors#C223" title="What this code means">
          C223
        </a>{' '}
        Nothing was changed: these files are not what the record left.
      </p>
      <ul>
        {conflicts.map(({ path, found_version, mergeable }) => (
          <li key={path}>
            <a class="mono" href={hashOf({ page: 'workspace', open: path })}>
              {path}
            </a>{' '}
            {found_version === 'absent' ? 'is gone' : mergeable ? 'can be merged' : 'cannot be merged'}
          </li>
        ))}
      </ul>
      <p>
        Where a newer record changed a file, undo that one first. Otherwise{' '}
        {isMergeable
          ? 'merge: it takes back the lines of this record and keeps the other changes.'
          : 'the file has to be edited by hand: it stays as it is.'}
      </p>
      {isMergeable && (
        <p class="fix">
          <button type="button" class="primary" onClick={onMerge}>
            {action} and merge
          </button>
        </p>
      )}
    </div>
  );
}
