/** filesystem::insert: inserts lines before a line, or after the last one, with the line endings around them. */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField } from '#file-functions';
import { countLines, endsWithNewline, lineEnding, locateLines, versionOf } from '#host';
import { defineAction } from '../action.ts';
import { expectedVersionField, readCurrentText, versionField } from '../current-text.ts';
import { errors } from '../errors.ts';
import { withEndings } from '../line-endings.ts';
import { previewSpans } from '../numbered-lines.ts';

export const insert = defineAction({
  id: 'filesystem::insert',
  summary: 'Insert lines before a line of a file, and show the lines around them.',
  details:
    'The content becomes lines of its own: a newline is added where it has none at its end. The file is UTF-8 text and ' +
    'keeps its mode and its line endings.',
  effect: 'write',
  isDestructive: false,
  permissions: ['fs.read', 'fs.write'],
  subject: { paths: ['path'] },
  policy: { risk: 'medium', sideEffects: ['filesystem_write'], constraints: ['paths', 'max_file_size'] },
  request: z.object({
    path: z.string().describe('The file: absolute, or from the first allowed path. Symlinks are followed.'),
    line: wire.uint64().min(1).describe('Insert before this line, from 1. The line count plus 1 appends.'),
    content: z.string().describe('Text to insert.'),
    expected_version: expectedVersionField,
  }),
  data: z.object({
    path: z.string().describe('Path of the file, symlinks resolved.'),
    line: wire.uint64().describe('Number of the first line inserted.'),
    lines_inserted: wire.uint64(),
    total_lines: wire.uint64().describe('Lines of the file now.'),
    preview: z.string().describe('Numbered lines around those inserted, after the insertion.'),
    version: versionField,
    note: noteField,
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F213', 'F215', 'F216', 'F218', 'F221', 'F222'],
  examples: [{ path: 'README.md', line: 1, content: '<!-- draft -->' }],

  handle({ path: asked, line, content, expected_version }, context, scope) {
    return context.changes.onTarget(asked, scope, async (target) => {
      const path = `/${target.relativePath}`;
      const before = await readCurrentText(target, expected_version, context);
      const { count: totalLines, starts } = locateLines(before, [line]);
      const start = starts.get(line);
      if (start === undefined) {
        const problem = `no line ${line}: ${path} has ${totalLines} lines, so line may be 1 to ${totalLines + 1}`;
        throw errors.fail('F222', { problem, totalLines });
      }

      const { text, span } = await insertLines(before, start, content, scope);
      const size = text.length;
      if (size > context.maxFileBytes) throw errors.fail('F213', { path, size, limit: context.maxFileBytes });

      const written = await context.changes.write(target, text, { before });
      return {
        path,
        line,
        lines_inserted: countLines(text.subarray(span.start, span.end)),
        total_lines: countLines(text),
        preview: previewSpans(text, [span]),
        version: versionOf(text),
        ...written,
      };
    });
  },
});

/** A last line without newline gets one first. */
async function insertLines(before: Buffer, start: number, content: string, scope: { signal: AbortSignal }) {
  const ending = lineEnding(before, start);
  const isVerbatim = ending === '\n' || content.includes('\r\n');
  const whole = content.endsWith('\n') ? content : content + ending;
  const lines = isVerbatim ? Buffer.from(whole) : await withEndings(whole, ending, scope);
  const isAfterOpenLine = start > 0 && start === before.length && !endsWithNewline(before);
  const head = Buffer.concat([before.subarray(0, start), Buffer.from(isAfterOpenLine ? ending : '')]);
  const text = Buffer.concat([head, lines, before.subarray(start)]);
  return { text, span: { start: head.length, end: head.length + lines.length } };
}
