/** One record of the journal: its caller, its lines, and its undo. */
import type { ComponentChildren } from 'preact';

import type { ChangedFile } from '../changes/by-file.ts';
import { callerOf, type ChangeRecord, type Step } from '../changes/records.ts';
import { bytes, moment } from '../format.ts';
import { DiffView } from '../parts/diff-view.tsx';
import { Badge, Command, Facts } from '../parts/layout.tsx';
import { hashOf } from '../route.ts';
import { UNDO, UndoPanel } from './change-undo.tsx';

export function RecordCard({ record, step }: { record: ChangeRecord; step: Step }) {
  const { seq, ts, function_id, turn_id, label, file_count: count, undoes, undone_by, changes = [] } = record;
  const facts: [string, ComponentChildren][] = [
    ['record', seq],
    ['time', moment(ts)],
    ['called by', callerOf(record)],
    ['turn', turn_id],
    ['undoes', undoes?.join(', ')],
    ['undone by', undone_by],
    ['kept for undo', record.bytes > 0 ? bytes(record.bytes) : undefined],
  ];
  return (
    <div class="scroll pad" tabIndex={0} role="region" aria-label="Record">
      <header class="title">
        <h1 class="mono cut">{label ?? function_id}</h1>
        {step.action === 'Redo' && <Badge kind="write">undone</Badge>}
      </header>
      <Way record={record} step={step} />
      <Facts rows={facts.filter(([, value]) => value !== undefined)} />
      <DiffView changes={changes} />
      {count > changes.length && <p class="quiet">{count - changes.length} more files</p>}
    </div>
  );
}

interface FileHistoryProps {
  file: ChangedFile;
  stepOf: (record: ChangeRecord) => Step;
}

/** Every change of one file, newest first; for a deleted file, its last content. */
export function FileHistory({ file: { path, kind, records }, stepOf }: FileHistoryProps) {
  return (
    <div class="scroll pad" tabIndex={0} role="region" aria-label="File history">
      <header class="title">
        <h1 class="mono cut">{path}</h1>
        {kind === 'deleted' ? (
          <Badge kind="delete">deleted</Badge>
        ) : (
          <a href={hashOf({ page: 'workspace', open: path })}>Open the file</a>
        )}
      </header>
      {records.map((record) => (
        <section key={record.seq} class="file-change" aria-label={`Record ${record.seq}`}>
          <h2>
            {moment(record.ts)} <span class="quiet">{callerOf(record)}</span>{' '}
            <a class="mono" href={hashOf({ page: 'changes', open: String(record.seq) })}>
              {record.label ?? record.function_id}
            </a>
            {stepOf(record).action === 'Redo' && <Badge kind="write">undone</Badge>}
          </h2>
          {record.changes[0].kind === 'deleted' && <p class="quiet">Its last content:</p>}
          <DiffView changes={record.changes} />
          <Way record={record} step={stepOf(record)} />
        </section>
      ))}
    </div>
  );
}

/** Shows how to undo the record, or why that is impossible. */
function Way({ record, step }: { record: ChangeRecord; step: Step }) {
  const { label, seq, file_count: count, skipped } = record;
  if (label !== undefined) {
    return (
      <div class="note">
        <p>A checkpoint changes no file. To undo everything after it:</p>
        <Command text={`workcell undo --to ${seq}`} />
      </div>
    );
  }
  if (skipped > 0 && step.seq === seq) {
    return (
      <p class="note">
        It cannot be undone: the former content of {skipped} of {count} files was not kept, as with files over{' '}
        <code>journal.max_image_bytes</code>.
        {skipped < count && ` To undo the others, call ${UNDO} with their \`paths\`.`}
      </p>
    );
  }
  return count > 0 ? <UndoPanel key={step.seq} record={record} step={step} /> : null;
}
