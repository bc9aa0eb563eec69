/**
 * agent::undo: undoes changes of this session, newest first, all or nothing.
 *
 * A file that something else changed since is never overwritten.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { findUndo, makeUndo } from '#host';
import { errors } from '../errors.ts';
import { filesOf, type NumberedChange, type Session } from '../session.ts';
import { someOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

export const undo = agent.defineFunction({
  id: 'agent::undo',
  summary: 'Undo changes that these tools made to files: the last one, or all back to and including `change`.',
  effect: 'delete',
  permissions: ['fs.read', 'fs.write', 'fs.delete'],
  subject: { paths: [] },
  request: z.object({ change: wire.uint32().min(1).optional() }),
  response: z.object({
    undone: z.array(z.object({ change: wire.uint32(), files: z.array(z.string()) })).describe('Newest first.'),
    redo_seq: wire.uint64().optional().describe('`seq` for coder::undo, to redo.'),
  }),
  reads: { line: ['change'] },
  errors: ['A210', 'A211', 'A215', 'A216', 'A223', 'A224', 'A227'],
  examples: [],

  async handle({ change }, context, { signal, noteChange, call, functionId }) {
    const session = context.sessions.of(call);
    const journal = requireJournal(context);
    const meant = changesTo(change, session);
    const first = meant.at(-1)!.record.seq;
    const select = meant.length === 1 ? { seq: first } : { toSeq: first - 1 };
    const asked = { select, onConflict: 'refuse' as const, anyone: false };
    const scope = { signal, noteChange, call, functionId };
    const parts = { jail: context.jail, changes: context.changes, journal };
    const plan = await findUndo(asked, parts, scope);
    const { losses, conflicts } = plan;
    if (conflicts.length > 0) throw errors.fail('A223', { conflicts });
    if (losses.length > 0) {
      const problem = `nothing was undone: the former content of ${losses[0]!.path} ${losses[0]!.problem}`;
      throw errors.fail('A227', { problem, losses });
    }
    const outcome = await makeUndo(plan, parts, scope);
    for (const { path, version } of outcome.changes) if (version !== undefined) session.sawVersion(path, version);
    return {
      undone: meant.map(({ number, record }) => ({ change: number, files: filesOf(record) })),
      ...(outcome.seq !== undefined && { redo_seq: outcome.seq }),
    };
  },

  text: ({ undone }) => undone.map(({ change, files }) => `undone: change ${change} (${someOf(files, 5)})`).join('\n'),
});

function requireJournal({ workspace: { journal } }: AgentContext) {
  if (journal?.isKept) return journal;
  const reason = journal?.limits.maxRecords === 0 ? '`journal.max_records` is 0' : '`state_dir` cannot be written';
  throw errors.fail('A224', { problem: `nothing is recorded for undo, because ${reason}` });
}

/** The changes that are not undone, from the newest to the given one. */
function changesTo(wanted: number | undefined, session: Session): NumberedChange[] {
  const all = session.changes();
  const live = all.filter(({ record }) => record.undoneBy === undefined).toReversed();
  const named = all.find(({ number }) => number === wanted);
  const last = all.at(-1)?.number;
  if (wanted !== undefined && !named) {
    const known = last === undefined ? 'there are none' : `the last is change ${last}`;
    throw errors.fail('A224', { problem: `there is no change ${wanted} in this session; ${known}` });
  }
  if (named?.record.undoneBy !== undefined) {
    throw errors.fail('A224', { problem: `change ${wanted} is undone already` });
  }
  if (live.length === 0) throw errors.fail('A224', { problem: 'this session has no change to undo' });
  return wanted === undefined ? live.slice(0, 1) : live.filter(({ number }) => number >= wanted);
}
