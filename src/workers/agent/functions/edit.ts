/**
 * agent::edit: replaces exact text in files, or applies a patch; all edits are made, or none.
 *
 * Text that does not occur exactly once is refused with the nearest lines of the file, so that the next call can be
 * right without another read.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import type { SetEntry } from '#host';
import { changeNumber } from '../change-number.ts';
import { applyPatch } from '../edits/apply-patch.ts';
import { EditedFiles, type EditedFile } from '../edits/edited-files.ts';
import { planEdits } from '../edits/plan-edits.ts';
import { errors } from '../errors.ts';
import { fitted } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

const MOST_PLACES = 5;

const Edit = wire.named(
  'AgentEdit',
  z.object({
    path: z.string().describe('A file, or a glob with `all`.'),
    old: z.string().describe('Exact text, once in the file.'),
    new: z.string().describe('Text in its place.'),
    all: z.boolean().optional().describe('Every occurrence.'),
    except: z.string().optional().describe('Globs to skip.'),
  }),
);

const EditedFileShape = wire.named(
  'AgentEditedFile',
  z.object({
    path: z.string(),
    kind: z.enum(['modified', 'added', 'deleted', 'moved']),
    from: z.string().optional().describe('Old path of a moved file.'),
    places: z.array(wire.uint64()).describe('Lines where it was changed, after the edit; the first of them.'),
    count: wire.uint64().describe('Replacements, or chunks of the patch.'),
    added: wire.uint64().describe('Lines added.'),
    removed: wire.uint64(),
    note: z.string().optional(),
  }),
);

export const edit = agent.defineFunction({
  id: 'agent::edit',
  summary: 'Change files: replace exact text that occurs once, or everywhere with `all`. All edits are made or none.',
  effect: 'write',
  permissions: ['fs.read', 'fs.write'],
  subject: { paths: ['edits[].path'], opaque: ['patch'] },
  isDestructive: true,
  calls: ['coder::apply-patch'],
  request: z.object({
    edits: z.array(Edit).min(1).optional().describe('All are made or none.'),
    patch: z.string().optional().describe('Instead of edits: a V4A (*** Begin Patch) or unified diff.'),
  }),
  response: z.object({ change: changeNumber, files: z.array(EditedFileShape) }),
  reads: { line: ['edits.path'] },
  errors: ['A210', 'A211', 'A213', 'A215', 'A216', 'A220', 'A221'],
  examples: [{ edits: [{ path: 'README.md', old: 'teh', new: 'the', all: true }] }],

  async handle({ edits, patch }, context, scope) {
    const session = context.sessions.of(scope.call);
    if ((edits === undefined) === (patch === undefined)) {
      throw errors.fail('A210', { problem: 'send either `edits` or `patch`' });
    }
    if (patch !== undefined) {
      const { seq, files, versions } = await applyPatch(patch, context, scope);
      for (const { path, version } of versions) session.sawVersion(path, version);
      return { ...numberOf(session.numberOf(seq)), files };
    }
    const files = new EditedFiles(context);
    const problems = await planEdits(edits!, files, { context, scope });
    if (problems.length > 0)
      throw errors.fail('A220', { problems: fitted(problems, context.replyChars, (left) => `… and ${left} more`) });

    const notes = new Map(files.all.map((file) => [file.path, strangeNote(file, session.seenVersion(file.path))]));
    const { seq } = await writeAll(files.all, context, scope);
    for (const { path, newVersion } of files.all) session.sawVersion(path, newVersion);
    const shown = files.all.map((file) => ({ ...file.report(MOST_PLACES), ...notes.get(file.path) }));
    return { ...numberOf(session.numberOf(seq)), files: shown };
  },

  text({ change, files }, { replyChars }) {
    const head = change === undefined ? 'nothing recorded' : `change ${change}`;
    return fitted([head, ...files.map(line)], replyChars, (left) => `… and ${left} more files`);
  },
});

function numberOf(change: number | undefined): { change?: number } {
  return change === undefined ? {} : { change };
}

/**
 * The note of an edit in a file that changed since the caller read it: the exact text was found, so the edit is right,
 * but the rest of the file may differ.
 */
function strangeNote({ version }: EditedFile, seen: string | undefined): { note?: string } {
  return seen === undefined || seen === version ? {} : { note: 'changed by something else since you read it' };
}

async function writeAll(files: readonly EditedFile[], { changes }: AgentContext, scope: CallScope) {
  const { signal, noteChange, call, functionId } = scope;
  const entries = files.map(({ path, content, version }): SetEntry => ({
    kind: 'write',
    path,
    content,
    expected: version,
  }));
  return changes.writeSet(entries, { signal, noteChange, call, functionId });
}

function line({ path, kind, from, places, count, added, removed, note }: z.input<typeof EditedFileShape>): string {
  const what = kind === 'modified' ? '' : ` ${kind}${from === undefined ? '' : ` from ${from}`}`;
  const times = count > 1 ? ` ${count}×` : '';
  const at = places.length > 0 ? ` at ${places.join(', ')}${count > places.length ? ' …' : ''}` : '';
  return `${path}${what}${times} +${added} -${removed}${at}${note === undefined ? '' : ` (${note})`}`;
}
