/** What calls changed in files, newest first, with the lines and a way back. */
import { useState } from 'preact/hooks';

import { useFeed } from '../changes/feed.ts';
import { bySeqOf, callerOf, nextStep, type ChangeRecord } from '../changes/records.ts';
import { moment } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { LineCounts } from '../parts/diff-view.tsx';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge, Command, Empty, Row } from '../parts/layout.tsx';
import { goTo, route } from '../route.ts';
import { RecordCard } from './change-card.tsx';

const RECORDS_A_PAGE = 30;
/** `coder::checkpoints` lists no more. */
const MOST_RECORDS = 1_000;
const FILES_A_ROW = 3;

export function ChangesPage() {
  const [limit, setLimit] = useState(RECORDS_A_PAGE);
  const { records = [], isMore = false, error, isMissing } = useFeed(limit);
  const open = (key: string) => goTo({ page: 'changes', open: key });
  useListKeys({ keys: records.map(({ seq }) => String(seq)), open, close: () => goTo({ page: 'changes' }) });
  const openKey = route.value.open;
  const bySeq = bySeqOf(records);
  const opened = records.find(({ seq }) => String(seq) === openKey);

  return (
    <div class="split wide">
      <section class="pane-list" aria-label="Changes">
        <div class="scroll">
          {records.map((record) => (
            <Row
              key={record.seq}
              id={String(record.seq)}
              class="change-row"
              isOpen={record === opened}
              onOpen={() => open(String(record.seq))}
            >
              <RecordLines record={record} isUndone={nextStep(record, bySeq).action === 'Redo'} />
            </Row>
          ))}
          {isMore && limit < MOST_RECORDS && (
            <button type="button" class="row" onClick={() => setLimit(Math.min(limit + RECORDS_A_PAGE, MOST_RECORDS))}>
              Older changes
            </button>
          )}
          {!isMore && records.length > 0 && <p class="quiet pad">The journal goes back to here.</p>}
        </div>
      </section>
      <section class="pane-main" aria-label="Change">
        {error !== undefined && <FailureCard error={error} />}
        {opened ? (
          <RecordCard key={opened.seq} record={opened} step={nextStep(opened, bySeq)} />
        ) : (
          <Teach title={titleWithout({ openKey, isMissing, isEmpty: records.length === 0 })} />
        )}
      </section>
    </div>
  );
}

function RecordLines({ record, isUndone }: { record: ChangeRecord; isUndone: boolean }) {
  const { label, function_id, ts, undoes, skipped, file_count: count, changes } = record;
  const shown = changes?.slice(0, FILES_A_ROW) ?? [];
  return (
    <>
      <span class="change-line">
        <span class="mono cut grow">{label ?? function_id}</span>
        <span class="quiet">{moment(ts)}</span>
      </span>
      <span class="change-line">
        <span class="quiet cut grow">{callerOf(record)}</span>
        {label !== undefined && <Badge kind="plain">checkpoint</Badge>}
        {undoes && <Badge kind="plain">undoes {undoes.join(', ')}</Badge>}
        {isUndone && <Badge kind="write">undone</Badge>}
        {skipped > 0 && <Badge kind="failed">not kept</Badge>}
      </span>
      {shown.map((change, at) => (
        <span key={at} class="change-line">
          <span class="mono quiet cut grow">{change.path}</span>
          <LineCounts change={change} />
        </span>
      ))}
      {count > shown.length && <span class="quiet">{count - shown.length} more</span>}
    </>
  );
}

function titleWithout({ openKey, isMissing, isEmpty }: { openKey?: string; isMissing: boolean; isEmpty: boolean }) {
  if (isMissing) return 'No worker serves coder::checkpoints';
  if (isEmpty) return 'No changes yet';
  return openKey === undefined ? 'Pick a change' : `Record ${openKey} is not listed`;
}

function Teach({ title }: { title: string }) {
  return (
    <Empty title={title}>
      <p>
        What file functions change is kept as it was before, and can be undone here. The oldest records are removed for
        the limits of the journal; those cannot be undone. In a terminal:
      </p>
      <Command text="workcell log" />
      <Command text="workcell undo" />
    </Empty>
  );
}
