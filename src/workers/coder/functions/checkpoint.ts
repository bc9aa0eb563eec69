/** coder::checkpoint: names the current state of the files, for undo to return to. */
import { z } from 'zod';

import { wire } from '#contract';
import { requireJournal } from '../journal-paths.ts';
import { coder } from '../worker.ts';

export const checkpoint = coder.defineFunction({
  id: 'coder::checkpoint',
  summary: 'Name the current state of the files, so that undo can return to it.',
  details: 'Takes one line in the journal, however many files there are. Of two with one label, undo uses the newer.',
  effect: 'write',
  permissions: ['fs.write'],
  request: z.object({ label: z.string().min(1).max(200).describe('Name for `to_label` of coder::undo.') }),
  response: z.object({
    seq: wire.uint64().describe('Number of the record, for `to_seq` of coder::undo.'),
    label: z.string(),
  }),
  reads: { line: ['label'] },
  errors: ['C210', 'C216', 'C224'],
  examples: [{ label: 'before the refactoring' }],

  handle({ label }, context, { call, functionId }) {
    const record = requireJournal(context).begin({ call, functionId }, { label });
    record.note([]);
    return { seq: record.seq, label };
  },
});
