/** coder::checkpoints: lists the journal records of changes and checkpoints, newest first. */
import { z } from 'zod';

import { CUT_NOTES, wire } from '#contract';
import { isLost, keptBytes, showChange, type JournalRecord } from '#host';
import { pathFilter, requireJournal } from '../journal-paths.ts';
import { coder, type CoderContext } from '../worker.ts';

const ShownChange = wire.named(
  'ShownChange',
  z.object({
    path: z.string().describe('Relative to base_path.'),
    kind: z.enum(['created', 'modified', 'deleted', 'renamed', 'mode']),
    from: z.string().optional().describe('Old path of a renamed file.'),
    hunks: z
      .array(
        z.object({
          before_line: wire.uint64().describe('First line of the hunk in the file before the call.'),
          after_line: wire.uint64().describe('First line of the hunk in the file after the call.'),
          lines: z.array(z.string()).describe('Lines, each after `+`, `-` or a space.'),
        }),
      )
      .optional()
      .describe('Missing if the file is not text, is over 256 KiB, or its content is no longer kept.'),
    is_cut: z.boolean().optional().describe('True if lines of the hunks were left out or shortened.'),
  }),
);

const ChangeRecord = wire.named(
  'ChangeRecord',
  z.object({
    seq: wire.uint64().describe('Number of the record; newer ones are higher.'),
    ts: wire.int64().describe('Time of the record, in milliseconds since 1970.'),
    function_id: z.string().optional().describe('Function that was called.'),
    session_id: z.string().optional().describe('`session_id` of the call’s metadata.'),
    turn_id: z.string().optional().describe('`turn_id` of the call’s metadata.'),
    caller: z
      .string()
      .optional()
      .describe('Id of the caller; by default undo selects only records of the same caller.'),
    caller_label: z.string().optional().describe('Name of the caller.'),
    call_id: z.string().optional().describe('Id of the call, as engine::calls::list has it.'),
    label: z.string().optional().describe('Name, if the record is a checkpoint.'),
    message: z.string().optional().describe('Message of a commit, or the recorded command.'),
    files: z.array(z.string()).describe('Changed paths, relative to base_path; the first 100.'),
    file_count: wire.uint64().describe('Number of changed paths.'),
    skipped: wire.uint64().describe('Paths whose former content was not kept, so that undo cannot restore it.'),
    bytes: wire.uint64().describe('Bytes of former contents that are kept.'),
    changes: z.array(ShownChange).optional().describe('With `diffs`: the changes, of the first 100 files.'),
    undoes: z.array(wire.uint64()).optional().describe('Records that this one undid.'),
    undone_by: wire.uint64().optional().describe('Record that undid this one.'),
  }),
);

const MAX_FILES = 100;

export const checkpoints = coder.defineFunction({
  id: 'coder::checkpoints',
  summary: 'List changes of files and checkpoints, newest first, with the record numbers for undo.',
  details:
    'Lists changes by the file functions of coder, shell::fs and filesystem, commits of changes, and commands with ' +
    '`record: true`. Changes by other commands are not recorded.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['paths[]'] },
  request: z.object({
    limit: wire.uint32().min(1).max(1000).default(50).describe('Most records to return. Default 50.'),
    since_seq: wire.uint64().optional().describe('Only records after this one.'),
    diffs: z.boolean().default(false).describe('Return the changed lines too. Default false.'),
    paths: z.array(z.string()).optional().describe('Only records that changed one of these paths, or a path below.'),
  }),
  response: z.object({
    records: z.array(ChangeRecord).describe('Newest first.'),
    truncated: z.boolean().describe('True if there are more than `limit`.'),
    seq: wire.uint64().describe('Number of the newest record; 0 if there is none.'),
  }),
  reads: { line: ['paths'], notes: CUT_NOTES },
  errors: ['C210', 'C211', 'C215', 'C216', 'C224'],
  examples: [{ limit: 10 }],

  async handle({ limit, since_seq = 0, paths, diffs }, context) {
    const journal = requireJournal(context);
    await journal.sums.settle(journal.records().values());
    const isMeant = pathFilter(paths, context);
    const found: JournalRecord[] = [];
    let newest = 0;
    for (const record of journal.newestFirst()) {
      newest ||= record.seq;
      if (record.seq <= since_seq || found.length > limit) break;
      if (!isMeant || record.changes.some(({ path }) => isMeant(path))) found.push(record);
    }
    return {
      records: found.slice(0, limit).map((record) => ({ ...toRow(record), ...(diffs && changesOf(record, context)) })),
      truncated: found.length > limit,
      seq: newest,
    };
  },
});

function changesOf({ changes }: JournalRecord, context: CoderContext) {
  const journal = requireJournal(context);
  return { changes: changes.slice(0, MAX_FILES).map((change) => showChange(journal, context.jail, change)) };
}

function toRow(record: JournalRecord): z.input<typeof ChangeRecord> {
  const { seq, at, functionId, sessionId, turnId, caller, callerLabel, callId } = record;
  const { label, message, changes, undoes, undoneBy } = record;
  const files = [...new Set(changes.map(({ path }) => path))];
  return {
    seq,
    ts: at,
    function_id: functionId,
    session_id: sessionId,
    turn_id: turnId,
    caller,
    caller_label: callerLabel,
    call_id: callId,
    label,
    message,
    files: files.slice(0, MAX_FILES),
    file_count: files.length,
    skipped: changes.filter(({ kind, before }) => kind !== 'mode' && isLost(before)).length,
    bytes: keptBytes(record),
    undoes: undoes && [...undoes],
    undone_by: undoneBy,
  };
}
