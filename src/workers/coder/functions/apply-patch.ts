/**
 * coder::apply-patch: applies a patch to several files, all or nothing.
 *
 * Chunks are matched by content, never by line numbers alone. If a chunk does not match, the failure shows the nearest
 * lines of the file, so that the caller can correct the patch without reading the file.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField } from '#file-functions';
import { Turns } from '#host';
import { errors } from '../errors.ts';
import { LEVELS } from '../patch/levels.ts';
import { parsePatch } from '../patch/parse-patch.ts';
import { writePatch } from '../patch/write-patch.ts';
import { coder } from '../worker.ts';

const TURN_MS = 5;

const PatchedChunk = wire.named(
  'PatchedChunk',
  z.object({
    chunk: wire.uint32().describe('Number of the chunk in this file of the patch, from 1.'),
    line: wire.uint64().describe('Line where the chunk starts, in the file before the patch.'),
    level: z
      .enum(LEVELS)
      .describe(
        'Difference that was ignored to match it: nothing, spaces at line ends, indentation, or typographic characters too.',
      ),
    other_places: wire.uint32().optional().describe('Number of other matches in the file, at most 100.'),
    reindented: z.boolean().optional().describe('True if its new lines were reindented to match the file.'),
    added: wire.uint64().describe('Lines added.'),
    removed: wire.uint64().describe('Lines removed.'),
  }),
);

const PatchedFile = wire.named(
  'PatchedFile',
  z.object({
    path: z.string().describe('Path as in the patch; after a move, the new path.'),
    kind: z.enum(['added', 'modified', 'deleted', 'moved']),
    from: z.string().optional().describe('Old path of a moved file.'),
    new_line_count: wire.uint64().optional().describe('Lines of the file after the patch, if its content changed.'),
    version: z.string().optional().describe('Version of the new content, for `expected_versions`.'),
    echo: z
      .object({ from_line: wire.uint64(), lines: z.array(z.string()) })
      .optional()
      .describe('New lines around the first chunk that was not an exact, single match, or around the first chunk.'),
    note: noteField,
    chunks: z.array(PatchedChunk).describe('Lines of each applied chunk.'),
  }),
);

export const applyPatch = coder.defineFunction({
  id: 'coder::apply-patch',
  summary: 'Apply a patch to several files (V4A `*** Begin Patch` or unified diff), all or nothing.',
  details:
    'Chunks are matched by content; line numbers and counts may be wrong. If a chunk does not match, no file is changed, and ' +
    'the failure has the nearest lines of the file. Line endings and modes are kept.',
  effect: 'delete',
  permissions: ['fs.read', 'fs.write', 'fs.delete'],
  subject: { paths: [] },
  request: z.object({
    patch: z
      .string()
      .describe(
        'The whole patch, paths relative to base_path. V4A sections: `*** Update File: path` (`*** Move to: path` below it to ' +
          'move), then `@@` and lines that begin with space, - or +; `*** Add File: path` and lines with +; `*** Delete File: path`.',
      ),
    fuzz: z
      .enum(['exact', 'space', 'indent'])
      .default('indent')
      .describe(
        'Allowed difference from the file: nothing, spaces at line ends, or indentation, quotes and dashes too (default).',
      ),
    expected_versions: z
      .record(z.string(), z.string())
      .optional()
      .describe('Required version of each file, by path as in the patch; C221 if a file has another.'),
    dry_run: z.boolean().default(false).describe('Return the results without writing. Default false.'),
  }),
  response: z.object({
    results: z.array(PatchedFile).describe('One per section of the patch, in its order.'),
    seq: wire.uint64().optional().describe('Journal record of these changes, for `seq` of coder::undo.'),
  }),
  reads: { line: ['patch'] },
  errors: ['C210', 'C211', 'C213', 'C215', 'C216', 'C221', 'C222'],
  examples: [{ patch: '*** Begin Patch\n*** Add File: notes/today.md\n+# Today\n*** End Patch\n' }],

  async handle(request, context, scope) {
    const { patch: text, expected_versions = {}, fuzz, dry_run } = request;
    const [size, limit] = [Buffer.byteLength(text), context.maxWriteBytes];
    if (size > limit) throw errors.fail('C213', { path: 'the patch', size, limit, key: 'max_write_bytes' });

    const turns = new Turns(scope, TURN_MS);
    const expected = {
      versions: new Map(Object.entries(expected_versions)),
      fix: (path: string, version: string) => ({
        ...request,
        expected_versions: { ...expected_versions, [path]: version },
      }),
    };
    const patch = await parsePatch(text, turns);
    return await writePatch(patch, { context, fuzz, expected, turns }, { isDryRun: dry_run, scope });
  },
});
