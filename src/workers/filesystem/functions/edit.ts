/**
 * filesystem::edit: replaces one text by another, matched exactly.
 *
 * Bytes around the change stay as they are, line endings too. If the text is not found, the answer shows the most
 * similar lines.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField, withNotes } from '#file-functions';
import { closestLines, countLines, endsWithNewline, takeTurn, versionOf, type JailEntry } from '#host';
import { defineAction } from '../action.ts';
import { expectedVersionField, readCurrentText, versionField } from '../current-text.ts';
import { errors } from '../errors.ts';
import { findText } from '../find-text.ts';
import { previewSpans } from '../numbered-lines.ts';
import { layOut, replaceAt } from '../replace-text.ts';
import type { FilesystemContext } from '../worker.ts';

const MAX_REPORTED_LINES = 20;

/** Most occurrences that are replaced or counted. */
const MAX_OCCURRENCES = 100_000;

const Request = z.object({
  path: z.string().describe('The file: absolute, or from the first allowed path. Symlinks are followed.'),
  old_string: z.string().describe('Exact text to find; LF also stands for the CRLF of a file that has it.'),
  new_string: z.string().describe('Replacement text.'),
  count: wire.uint32().default(1).describe('Occurrences to replace, from the top; 0 for all.'),
  expect_unique: z.boolean().optional().describe('Refuse if count is 1 and the text occurs more than once.'),
  expected_version: expectedVersionField,
});

export const edit = defineAction({
  id: 'filesystem::edit',
  summary: 'Replace an exact text in a file, and show the lines around the change.',
  details: 'The file is UTF-8 text and keeps its mode and its line endings. Readers see the old file or the new one.',
  effect: 'write',
  modelDefaults: { expect_unique: true },
  permissions: ['fs.read', 'fs.write'],
  subject: { paths: ['path'] },
  policy: { risk: 'medium', sideEffects: ['filesystem_write'], constraints: ['paths', 'max_file_size'] },
  request: Request,
  data: z.object({
    path: z.string().describe('Path of the file, symlinks resolved.'),
    replacements: wire.uint32(),
    matches: wire.uint32().optional().describe('Occurrences that were in the file, counted up to 100001.'),
    lines: z.array(wire.uint64()).optional().describe('Lines that the first 20 replacements begin at.'),
    preview: z.string().describe('Numbered lines around the first changes, after the edit.'),
    version: versionField,
    note: noteField,
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F213', 'F215', 'F216', 'F218', 'F219', 'F220', 'F221'],
  examples: [{ path: 'README.md', old_string: 'teh', new_string: 'the' }],

  handle(request, context, scope) {
    const { path, old_string, new_string } = request;
    if (old_string === '') throw errors.fail('F210', { problem: '`old_string` must not be empty' });
    if (old_string === new_string) throw errors.fail('F210', { problem: '`old_string` and `new_string` are the same' });
    return context.changes.onTarget(path, scope, (target) => editTarget(target, request, context, scope));
  },
});

async function editTarget(
  target: JailEntry,
  { old_string, new_string, count, expect_unique, expected_version }: z.output<typeof Request>,
  context: FilesystemContext,
  scope: { signal: AbortSignal },
) {
  const path = `/${target.relativePath}`;
  const before = await readCurrentText(target, expected_version, context);
  // Finds one more than may be replaced, to detect that there are too many.
  const all = await findText(before, old_string, { atMost: MAX_OCCURRENCES + 1, signal: scope.signal });
  const matches = all.starts.length;
  if (matches === 0) {
    throw errors.fail('F219', { path, closest: await closestLines(before.toString(), old_string, scope) });
  }
  const isUniqueExpected = expect_unique && count === 1;
  const found = { ...all, starts: count === 0 || isUniqueExpected ? all.starts : all.starts.slice(0, count) };
  if (found.starts.length > MAX_OCCURRENCES) {
    const problem = `old_string is more than ${MAX_OCCURRENCES} times in ${path}; give more of the text around it, or a smaller \`count\``;
    throw errors.fail('F210', { problem });
  }
  if (isUniqueExpected && matches > 1) {
    const lines = await linesOf(before, all.starts.slice(0, MAX_REPORTED_LINES), scope);
    throw errors.fail('F220', { path, count: matches, lines });
  }

  const layout = await layOut(before, found, { oldString: old_string, newString: new_string }, scope);
  const { size } = layout;
  if (size > context.maxFileBytes) throw errors.fail('F213', { path, size, limit: context.maxFileBytes });

  const after = replaceAt(before, found, layout);
  const written = await context.changes.write(target, after.text, { before });
  const lines = await linesOf(
    after.text,
    after.spans.slice(0, MAX_REPORTED_LINES).map(({ start }) => start),
    scope,
  );
  const replacements = after.spans.length;
  const partly = `old_string was ${matches} times in the file; ${replacements} replaced, first at line ${lines[0]}. count: 0 replaces all`;
  return {
    path,
    replacements,
    matches,
    lines,
    preview: previewSpans(after.text, after.spans),
    version: versionOf(after.text),
    ...withNotes(matches > replacements ? [partly] : [], written),
  };
}

/** The line numbers of these offsets, which are in text order. */
async function linesOf(text: Buffer, starts: readonly number[], scope: { signal: AbortSignal }): Promise<number[]> {
  const lines: number[] = [];
  let line = 1;
  let done = 0;
  for (const start of starts) {
    const passed = text.subarray(done, start);
    line += countLines(passed) - (passed.length > 0 && !endsWithNewline(passed) ? 1 : 0);
    lines.push(line);
    done = start;
    await takeTurn(scope);
  }
  return lines;
}
