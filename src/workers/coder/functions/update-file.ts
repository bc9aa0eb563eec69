/**
 * coder::update-file: edits lines and replaces by regex, all operations of one file or none.
 *
 * Line operations run first, wherever they are in the list, because their numbers are those of the current file;
 * replacements then see their results.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { noteField, withNotes } from '#file-functions';
import { countLines, locateLines, versionAside, type ByteRange, type JailEntry } from '#host';
import { settleEach } from '../batch.ts';
import { EditMemory } from '../edit-memory.ts';
import { errors } from '../errors.ts';
import { readCurrent } from '../line-edits-current.ts';
import { echoChanges } from '../line-edits-regions.ts';
import { applyReplaceOp, findFirst, type Replacing } from '../line-edits-replace.ts';
import { applyLineOps, type Edited, type Numbered } from '../line-edits.ts';
import { coder, type CoderContext } from '../worker.ts';

const fromLine = wire.uint32().describe('First line, from 1.');
const toLine = wire.uint32().describe('Last line, itself included.');

const UpdateOp = wire.named(
  'UpdateOp',
  z.discriminatedUnion('op', [
    z
      .object({
        op: z.enum(['insert']),
        at_line: wire.uint32().describe('Insert before this line, from 1. The line count plus 1 appends.'),
        content: z.string().describe('Lines to insert. A newline at the end adds no empty line.'),
      })
      .describe('Insert lines.'),
    z.object({ op: z.enum(['remove']), from_line: fromLine, to_line: toLine }).describe('Remove lines.'),
    z
      .object({
        op: z.enum(['update_lines']),
        from_line: fromLine,
        to_line: toLine,
        content: z.string().describe('New lines. An empty text removes the old ones.'),
      })
      .describe('Replace lines by others.'),
    z
      .object({
        op: z.enum(['replace']),
        pattern: z.string().describe('Regex in the syntax of the Rust crate; `(?m)` makes ^ and $ match at lines.'),
        replacement: z.string().describe('Text with `$1`, `${1}` or `$name` for groups and `$$` for a dollar sign.'),
        ignore_case: z.boolean().default(false).describe('Match upper and lower case alike.'),
        expect_matches: wire
          .uint32()
          .optional()
          .describe('Required number of matches; with any other number the file is not changed.'),
        must_match: z
          .boolean()
          .optional()
          .describe('Fail with C210 when nothing matches. Default false on the bus, true for models.'),
      })
      .describe('Replace every match of a regex in the whole text, after the line operations.'),
  ]),
);

const UpdateFileSpec = wire.named(
  'UpdateFileSpec',
  z.object({
    path: z.string().describe('The file, relative to base_path. A symlink inside base_path is followed.'),
    ops: z.array(UpdateOp).describe('At least one. Line numbers are those of the file as it is before the call.'),
    expected_version: z
      .string()
      .optional()
      .describe('Edit only if the file has this version, as returned by a read or an earlier change; else C221.'),
  }),
);
type UpdateFileSpec = z.output<typeof UpdateFileSpec>;

const FileChange = wire.named(
  'FileChange',
  z.object({
    op: wire.uint32().describe('Number of the operation in `ops`, from 1.'),
    from_line: wire.uint64().describe('Number of the first line shown, after the edit.'),
    to_line: wire.uint64().describe('Number of the last line shown.'),
    content: z.string().describe('The lines that changed with two before and after.'),
  }),
);

const UpdateFileResult = wire.named(
  'UpdateFileResult',
  z.object({
    path: z.string().describe('The path as sent.'),
    success: z.boolean(),
    applied: wire.uint32().describe('Operations applied, replacements without a match not counted; 0 when it failed.'),
    new_line_count: wire.uint64().describe('Lines of the file afterwards; 0 when it failed.'),
    matches: wire.uint64().optional().describe('Matches replaced by all replacements together; with these only.'),
    version: z.string().optional().describe('Version of the new content; pass it as `expected_version`.'),
    note: noteField,
    changes: z.array(FileChange).optional().describe('Changed regions, from the top; at most five per operation.'),
    changes_truncated: z.boolean().optional().describe('True when `changes` is incomplete.'),
    error: z.string().nullish().describe('The failure as JSON text with `code` and `message`; absent on success.'),
  }),
);

export const updateFile = coder.defineFunction({
  id: 'coder::update-file',
  summary: 'Edit files: insert, remove and replace lines by number, and replace by regex.',
  details:
    'Files are edited one after the other, and one that fails stops no other; each is changed by all its operations ' +
    'or not at all. Line operations may not overlap. Line endings, mode and owner stay as they are, and a file that ' +
    'is not UTF-8 is refused.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['files[].path'] },
  failsInItems: 'results',
  request: z.object({ files: z.array(UpdateFileSpec).describe('The files; at least one.') }),
  response: z.object({ results: z.array(UpdateFileResult).describe('One for each file, in the same order.') }),
  reads: { line: ['files.path'] },
  errors: ['C210', 'C211', 'C213', 'C215', 'C216', 'C221'],
  examples: [
    { files: [{ path: 'README.md', ops: [{ op: 'replace', pattern: '\\bteh\\b', replacement: 'the' }] }] },
    { files: [{ path: 'README.md', ops: [{ op: 'insert', at_line: 1, content: '<!-- draft -->' }] }] },
  ],

  async handle({ files }, context, scope) {
    if (files.length === 0) throw errors.fail('C210', { problem: '`files` must not be empty' });

    const batch = { failed: { applied: 0, new_line_count: 0 }, scope, context };
    const work = (file: UpdateFileSpec) =>
      context.changes.onTarget(file.path, scope, (target) => update(file, target, context, scope));
    return { results: await settleEach(files, batch, work) };
  },
});

async function update(file: UpdateFileSpec, target: JailEntry, context: CoderContext, call: CallScope) {
  const { path } = file;
  const { changes, workspace, regexTimeoutMs: timeoutMs, maxWriteBytes } = context;
  // Reused by the next edit, so nothing that is returned may point into it.
  using memory = new EditMemory();
  const { signal, door } = call;
  const scope = { regexes: workspace.regexes, call: { signal, door, timeoutMs }, memory };
  const ops = file.ops.map((op, i) => ({ ...op, number: i + 1 }));
  const before = await readCurrent(
    target,
    { bytes: maxWriteBytes, key: 'max_write_bytes' },
    {
      version: file.expected_version,
      fix: (version) => ({ files: [{ ...file, expected_version: version }] }),
      range: async (text) => ops[0] && rangeOf(ops[0], text, scope),
      memory,
    },
  );
  if (ops.length === 0) throw errors.fail('C210', { problem: `\`ops\` for ${path} must not be empty` });
  if (!isUtf8(before)) throw errors.fail('C210', { problem: `${path} is not UTF-8 text` });

  const { edited, counts } = await edit(before, ops, scope);
  const size = edited.text.length;
  if (size > maxWriteBytes) throw errors.fail('C213', { path, size, limit: maxWriteBytes, key: 'max_write_bytes' });

  const version = versionAside(edited.text);
  const { new_line_count, ...echo } = reportText(edited);
  const written = await changes.write(target, edited.text, { before, version });
  const { unmatched, ...matched } = reportMatches(counts);
  const applied = ops.length - unmatched.length;
  const notes = unmatched.length > 0 ? [`no match for ${unmatched.join(', ')}`] : [];
  return { applied, new_line_count, ...matched, version: await version, ...echo, ...withNotes(notes, written) };
}

/** Reports replacements: how many matches, and which operations had none. */
function reportMatches(counts: ReadonlyMap<number, number>) {
  const unmatched = [...counts].filter(([, count]) => count === 0).map(([number]) => `op ${number}`);
  const matches = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { unmatched, ...(counts.size > 0 && { matches }) };
}

/** Reports the new text. */
function reportText(edited: Edited) {
  const { changes, isCut } = echoChanges(edited);
  return {
    new_line_count: countLines(edited.text),
    changes,
    ...(isCut && { changes_truncated: true }),
  };
}

interface EditScope extends Replacing {
  readonly memory: EditMemory;
}

/** `counts` has the matches of each replacement by its number. */
async function edit(text: Buffer, ops: Numbered<z.output<typeof UpdateOp>>[], scope: EditScope) {
  const lineOps = ops.filter((op) => op.op !== 'replace');
  const replaceOps = ops.filter((op) => op.op === 'replace');
  let edited: Edited = lineOps.length > 0 ? await applyLineOps(text, lineOps, scope) : { text, sites: [] };
  const counts = new Map<number, number>();
  for (const op of replaceOps) {
    const { count, ...replaced } = await applyReplaceOp(edited, op, scope);
    counts.set(op.number, count);
    edited = replaced;
  }
  return { edited, counts };
}

/** The range where an operation would change a text; the end if its lines do not exist. */
async function rangeOf(
  op: Numbered<z.output<typeof UpdateOp>>,
  text: Buffer,
  replacing: Replacing,
): Promise<ByteRange | undefined> {
  if (op.op === 'replace') return findFirst(text, op, replacing);

  const [from, until] = op.op === 'insert' ? [op.at_line, op.at_line] : [op.from_line, op.to_line + 1];
  const { starts } = locateLines(text, [from, until]);
  return { start: starts.get(from) ?? text.length, end: starts.get(until) ?? text.length };
}
