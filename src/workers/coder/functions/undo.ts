/**
 * coder::undo: undoes changes of files, all or nothing.
 *
 * A file that was changed since its record is reported as a conflict, never overwritten. An undo is a record itself, so
 * that it can be undone.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { findUndo, makeUndo, type SetOutcome, type UndoPlan } from '#host';
import { errors } from '../errors.ts';
import { journalPaths, requireJournal } from '../journal-paths.ts';
import { coder } from '../worker.ts';

const UndoneRecord = wire.named(
  'UndoneRecord',
  z.object({
    seq: wire.uint64(),
    function_id: z.string().optional(),
    turn_id: z.string().optional(),
    restored: wire.uint64().describe('Paths whose former content, mode or path was restored.'),
    removed: wire.uint64().describe('Created paths that were removed.'),
    skipped: wire.uint64().describe('Conflicting paths left unchanged, with `on_conflict: skip`.'),
  }),
);

const UndoneFile = wire.named(
  'UndoneFile',
  z.object({
    path: z.string().describe('Relative to base_path.'),
    kind: z.enum(['created', 'modified', 'deleted', 'moved', 'mode']).describe('What the undo did to the file.'),
    from: z.string().optional().describe('Old path of a moved file.'),
    version: z.string().optional().describe('Version of the content, for `expected_version`.'),
  }),
);

const SkippedFile = wire.named(
  'SkippedFile',
  z.object({
    path: z.string().describe('Relative to base_path.'),
    left_version: z.string().describe('Version that the record left; for other than files the kind of entry or mode.'),
    found_version: z.string().describe('The same, as it is now.'),
    mergeable: z.boolean().describe('True if `on_conflict: merge` keeps both changes.'),
  }),
);

const SELECTORS = ['steps', 'turn_id', 'seq', 'to_seq', 'to_label'] as const;

export const undo = coder.defineFunction({
  id: 'coder::undo',
  summary: 'Undo changes of files: the last call, a turn, one record, or everything since a checkpoint.',
  details:
    'All or nothing. Covers files, modes, directories, moves and symlinks changed by coder, shell::fs, filesystem, commits ' +
    'of changes and commands with `record: true`, not by other commands. Changes only paths of the records. Without a selector it undoes the last call of this caller that is not ' +
    'undone. To redo, send the `redo_seq` of an undo as `seq`.',
  effect: 'delete',
  permissions: ['fs.read', 'fs.write', 'fs.delete'],
  subject: { trees: ['paths[]'] },
  request: z.object({
    steps: wire
      .uint32()
      .min(1)
      .max(1000)
      .optional()
      .describe('Undo this many of the newest records. Default 1, without another selector.'),
    turn_id: z.string().optional().describe('Undo all records of this turn.'),
    seq: wire.uint64().optional().describe('Undo exactly this record.'),
    to_seq: wire.uint64().optional().describe('Undo everything after this record.'),
    to_label: z.string().optional().describe('Undo everything after the checkpoint with this label.'),
    paths: z.array(z.string()).min(1).optional().describe('Undo only these paths and the paths below.'),
    on_conflict: z
      .enum(['refuse', 'merge', 'skip'])
      .default('refuse')
      .describe(
        'If a file was changed since its record: undo nothing (default), merge both changes if they are in different lines, or skip the file.',
      ),
    dry_run: z.boolean().default(false).describe('Return the changes to undo without changing files. Default false.'),
    anyone: z.boolean().default(false).describe('Undo records of other callers too. Default false.'),
  }),
  response: z.object({
    undone: z.array(UndoneRecord).describe('Undone records, newest first.'),
    redo_seq: wire
      .uint64()
      .optional()
      .describe('Record of this undo: `undo {seq: redo_seq}` redoes. Missing in a dry run.'),
    files: z.array(UndoneFile).describe('Changed files; in a dry run those that would be changed.'),
    conflicts: z
      .array(SkippedFile)
      .optional()
      .describe('With `on_conflict: skip`: files left unchanged, because they were changed since their record.'),
  }),
  reads: { line: ['seq', 'turn_id', 'to_seq', 'to_label', 'paths'] },
  errors: ['C210', 'C211', 'C215', 'C216', 'C223', 'C224', 'C227'],
  examples: [{ dry_run: true, anyone: true }],

  async handle(request, coderContext, { signal, noteChange, call, functionId }) {
    const given = SELECTORS.filter((name) => request[name] !== undefined);
    if (given.length > 1) {
      throw errors.fail('C210', { problem: `\`${given.join('` and `')}\` exclude each other; send one of them` });
    }
    const { jail, changes } = coderContext;
    const context = { jail, changes, journal: requireJournal(coderContext) };
    const { steps, turn_id: turnId, seq, to_seq: toSeq, to_label: toLabel, on_conflict: onConflict, anyone } = request;
    const paths = request.paths && journalPaths(request.paths, coderContext);
    const asked = { select: { steps, turnId, seq, toSeq, toLabel }, paths, onConflict, anyone };
    const scope = { signal, noteChange, call, functionId };

    const plan = await findUndo(asked, context, scope);
    const { losses, conflicts, skipped } = plan;
    if (conflicts.length > 0) throw errors.fail('C223', { conflicts });
    if (losses.length > 0) throw errors.fail('C227', { problem: lossText(plan), losses });
    const undone = plan.undone.map(({ record, restored, removed, skipped }) => ({
      seq: record.seq,
      function_id: record.functionId,
      turn_id: record.turnId,
      ...{ restored, removed, skipped },
    }));
    const left = skipped.length > 0 && { conflicts: [...skipped] };
    if (request.dry_run) return { undone, files: planned(plan), ...left };

    const outcome = await makeUndo(plan, context, scope);
    return { undone, redo_seq: outcome.seq, files: files(outcome), ...left };
  },
});

function lossText({ losses: [first, ...more] }: UndoPlan): string {
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  return `the former content of ${first!.path} ${first!.problem}${others}; nothing was undone`;
}

function files({ changes }: SetOutcome): z.input<typeof UndoneFile>[] {
  return changes.map(({ path, kind, from, version }) => ({ path, kind, from, version }));
}

function planned({ entries }: UndoPlan): z.input<typeof UndoneFile>[] {
  return entries.map((entry) => {
    const { path } = entry;
    switch (entry.kind) {
      case 'move':
        return { path: entry.to, kind: 'moved', from: path };
      case 'mode':
        return { path, kind: 'mode' };
      case 'delete':
        return { path, kind: 'deleted' };
      default:
        return restored(entry.kind === 'restore' ? entry.state : undefined, path, entry);
    }
  });
}

function restored(
  state: { kind: string; version?: string } | undefined,
  path: string,
  entry: object,
): z.input<typeof UndoneFile> {
  if (state?.kind === 'absent') return { path, kind: 'deleted' };
  const isNew = (entry as { seen?: unknown }).seen === 'nothing';
  return { path, kind: isNew ? 'created' : 'modified', version: state?.version };
}
