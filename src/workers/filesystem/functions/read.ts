/**
 * filesystem::read: returns the lines of a file with their numbers, all of them or some.
 *
 * The size is that of the open file, so one over the limit is not read. Lines are found without holding the file in
 * memory.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { readImage, versionOf } from '#host';
import { defineAction } from '../action.ts';
import { requireSize } from '../current-text.ts';
import { encodingField } from '../encodings.ts';
import { openText, showWindow } from '../text-window.ts';

export const read = defineAction({
  id: 'filesystem::read',
  summary: 'Read a text file with line numbers, whole or some lines of it.',
  details:
    'Each line has its number before it, right-aligned to six places or more, and │. Line endings are kept. ' +
    'Data that is not text is refused. A file over 64 MiB has total_lines only if read to the end.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['path'] },
  policy: { risk: 'low', sideEffects: [], constraints: ['paths', 'max_file_size'] },
  request: z.object({
    path: z.string().describe('The file: absolute, or from the first allowed path. Symlinks are followed.'),
    start_line: wire.uint64().min(1).default(1).describe('First line, from 1.'),
    end_line: wire.uint64().min(1).nullish().describe('Last line, inclusive. Default: the last of the file.'),
    encoding: encodingField,
  }),
  data: z.object({
    path: z.string().describe('Path of the file, symlinks resolved.'),
    content: z.string().describe('The lines with their numbers.'),
    total_lines: wire.uint64().optional().describe('Lines in the file; absent where they were not counted.'),
    start_line: wire.uint64(),
    end_line: wire.uint64().describe('Last line shown; one less than start_line when there is none.'),
    size_bytes: wire.uint64(),
    version: z.string().optional().describe('Version of this content; absent for files over 1 MiB.'),
    truncated: z.boolean().optional().describe('Present and true when not all lines fitted; continue after end_line.'),
    last_line_cut: z.boolean().optional().describe('Present and true when not even one line fitted.'),
    image: z
      .object({ mime_type: z.string(), base64: z.string() })
      .optional()
      .describe('The file as an image, instead of its text; for models only.'),
  }),
  reads: { line: ['path'], notes: [{ field: 'data.truncated', says: 'cut' }] },
  errors: ['F210', 'F211', 'F212', 'F213', 'F215', 'F216', 'F218', 'F222'],
  examples: [{ path: 'README.md' }, { path: 'README.md', start_line: 1, end_line: 40 }],

  async handle({ path: asked, start_line, end_line, encoding }, { jail, maxFileBytes, roots }, scope) {
    using file = jail.open(asked);
    requireSize(file, maxFileBytes);

    const path = `/${file.relativePath}`;
    const image = scope.door === 'model' ? await readImage(file) : undefined;
    if (image) return { path, content: '', start_line: 1, end_line: 0, size_bytes: file.size, image };

    const text = await openText(file, encoding, { roots }, scope);
    const window = { startLine: start_line, endLine: end_line ?? Infinity, encoding };
    const shown = await showWindow(path, text, window, scope);
    return { path, ...shown, size_bytes: file.size, ...(text.whole && { version: versionOf(text.whole) }) };
  },
});
