/**
 * Open changes, then the file changes of calls, newest first, by change or by file, with the changed lines
 * and their undo.
 */
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';

import { filesOf, type ChangedFile } from '../changes/by-file.ts';
import { OPEN_PREFIX } from '../changes/open-change.ts';
import { bySeqOf, callerOf, nextStep, type ChangeRecord } from '../changes/records.ts';
import { counted, moment } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { feed, feedError, JOURNAL, loadAll, loadOlder } from '../live/changes.ts';
import { useOpenChanges } from '../live/use-open-changes.ts';
import { ChangedCounts } from '../parts/call-parts.tsx';
import { LineCounts } from '../parts/diff-view.tsx';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge, Command, Empty, Row } from '../parts/layout.tsx';
import { Split } from '../parts/split.tsx';
import { goTo, route } from '../route.ts';
import { catalogue, isServed } from '../session.ts';
import { FileHistory, RecordCard } from './change-card.tsx';
import { OpenChangeCard, OpenChangeRow } from './open-change-card.tsx';

const FILES_A_ROW = 3;
/** The open item is a file: its path follows. */
const FILE = 'file:';

const isByFile = signal(false);
const open = (key: string) => goTo({ page: 'changes', open: key });

export function ChangesPage() {
  const { records = [], isMore = false } = feed.value ?? {};
  const { open: openKey } = route.value;
  const openPath = openKey?.startsWith(FILE) ? openKey.slice(FILE.length) : undefined;
  const byFile = isByFile.value || openPath !== undefined;
  const files = filesOf(records);
  const { changes, load } = useOpenChanges();
  const openChange = changes.find(({ change }) => OPEN_PREFIX + change === openKey);
  const listed = byFile ? files.map(({ path }) => FILE + path) : records.map(({ seq }) => String(seq));
  useListKeys({
    keys: [...changes.map(({ change }) => OPEN_PREFIX + change), ...listed],
    open,
    close: () => goTo({ page: 'changes' }),
  });
  const bySeq = bySeqOf(records);
  const opened = records.find(({ seq }) => String(seq) === openKey);
  const openFile = files.find(({ path }) => path === openPath);
  // A link may name a record that is older than those loaded first.
  const isOlder = openKey !== undefined && feed.value !== undefined && isMore && !opened && !openFile && !openChange;
  useEffect(() => {
    if (isOlder) loadAll();
  }, [isOlder]);

  return (
    <Split
      page="changes"
      names={['Changes', 'Change']}
      isOpen={openKey !== undefined}
      isWide
      list={
        <>
          <h1 class="hidden">Changes</h1>
          <Toggle byFile={byFile} />
          <div class="scroll">
            {changes.map((one) => (
              <OpenChangeRow key={one.change} one={one} isOpen={one === openChange} onOpen={open} />
            ))}
            {byFile ? <FileRows files={files} open={openFile} /> : <RecordRows records={records} open={opened} />}
            {isMore && (
              <button type="button" class="row" onClick={() => loadOlder()}>
                Older changes
              </button>
            )}
            {!isMore && records.length > 0 && <p class="quiet pad">The journal goes back to here.</p>}
          </div>
        </>
      }
    >
      {feedError.value !== undefined && <FailureCard error={feedError.value} />}
      {openChange && (
        <OpenChangeCard key={openChange.change} change={openChange} onDone={() => void load().catch(() => {})} />
      )}
      {opened && <RecordCard key={opened.seq} record={opened} step={nextStep(opened, bySeq)} />}
      {openFile && <FileHistory key={openFile.path} file={openFile} stepOf={(record) => nextStep(record, bySeq)} />}
      {!opened && !openFile && !openChange && (
        <Teach title={titleWithout({ openKey, isEmpty: records.length === 0 })} />
      )}
    </Split>
  );
}

function FileRows({ files, open: opened }: { files: ChangedFile[]; open: ChangedFile | undefined }) {
  return (
    <>
      {files.map((file) => {
        const key = FILE + file.path;
        return (
          <Row key={key} id={key} class="two-lines" isOpen={file === opened} onOpen={() => open(key)}>
            <FileLines file={file} />
          </Row>
        );
      })}
    </>
  );
}

function RecordRows({ records, open: opened }: { records: ChangeRecord[]; open: ChangeRecord | undefined }) {
  const bySeq = bySeqOf(records);
  return (
    <>
      {records.map((record) => {
        const key = String(record.seq);
        return (
          <Row key={key} id={key} class="change-row" isOpen={record === opened} onOpen={() => open(key)}>
            <RecordLines record={record} isUndone={nextStep(record, bySeq).action === 'Redo'} />
          </Row>
        );
      })}
    </>
  );
}

function Toggle({ byFile }: { byFile: boolean }) {
  const set = (wanted: boolean) => {
    isByFile.value = wanted;
    goTo({ page: 'changes' });
  };
  return (
    <p class="toggles" role="group" aria-label="Order">
      <button type="button" class="plain" aria-pressed={!byFile} onClick={() => set(false)}>
        by change
      </button>
      <button type="button" class="plain" aria-pressed={byFile} onClick={() => set(true)}>
        by file
      </button>
    </p>
  );
}

function FileLines({ file: { path, kind, added, removed, records } }: { file: ChangedFile }) {
  const [latest] = records;
  return (
    <>
      <span class="mono cut grow">{path}</span>
      <span>
        <ChangedCounts changed={{ files: 1, added, removed }} />{' '}
        {kind !== 'modified' && <Badge kind={kind === 'deleted' ? 'delete' : 'ok'}>{kind}</Badge>}
      </span>
      <span class="quiet cut grow">
        {callerOf(latest!)} · {counted(records.length, 'change', 'changes')}
      </span>
      <span class="quiet">{moment(latest!.ts)}</span>
    </>
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

function titleWithout({ openKey, isEmpty }: { openKey: string | undefined; isEmpty: boolean }) {
  if (catalogue.value && !isServed(JOURNAL)) return `No worker serves ${JOURNAL}`;
  if (isEmpty) return 'No changes yet';
  return openKey === undefined ? 'Pick a change' : `${openKey} is not in the journal any more`;
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
