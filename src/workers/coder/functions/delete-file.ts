/**
 * coder::delete-file: deletes files, symlinks and folders.
 *
 * A symlink is deleted itself, whatever it points to. A folder with anything protected below is not deleted at all.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField, Notes } from '#file-functions';
import type { JailEntry } from '#host';
import { settleEach } from '../batch.ts';
import { errors } from '../errors.ts';
import { readCurrent } from '../line-edits-current.ts';
import { coder, type CoderContext } from '../worker.ts';

const DeleteFileResult = wire.named(
  'DeleteFileResult',
  z.object({
    path: z.string().describe('The path as sent.'),
    success: z.boolean(),
    removed: z.boolean().describe('Whether there was anything to remove.'),
    note: noteField,
    error: z.string().nullish().describe('The failure as JSON text with `code` and `message`; absent on success.'),
  }),
);

export const deleteFile = coder.defineFunction({
  id: 'coder::delete-file',
  summary: 'Remove files, symlinks and folders. A missing path succeeds with removed: false.',
  details:
    'A symlink is removed itself, never its target. A folder with entries needs `recursive`, and is refused as a ' +
    'whole when something below it is protected.',
  effect: 'delete',
  permissions: ['fs.delete'],
  subject: { trees: ['paths[]'] },
  isIdempotent: true,
  failsInItems: 'results',
  request: z.object({
    paths: z.array(z.string()).describe('Paths to remove, relative to base_path; at least one.'),
    recursive: z.boolean().default(false).describe('Delete folders with all their contents. Default false.'),
    expected_versions: z
      .record(z.string(), z.string())
      .optional()
      .describe('By path as in `paths`: remove the file only when it is at this version; C221 if not.'),
  }),
  response: z.object({ results: z.array(DeleteFileResult).describe('One for each path, in the same order.') }),
  reads: { line: ['paths'] },
  errors: ['C210', 'C211', 'C213', 'C215', 'C216', 'C221'],
  examples: [{ paths: ['scratch.txt'] }],

  async handle({ paths, recursive, expected_versions }, context, scope) {
    if (paths.length === 0) throw errors.fail('C210', { problem: '`paths` must not be empty' });

    const versions = new Map(Object.entries(expected_versions ?? {}));
    const items = paths.map((path) => ({ path }));
    const results = await settleEach(items, { failed: { removed: false }, scope, context }, ({ path }) =>
      context.changes.onEntry(path, scope, async (entry) => {
        await requireVersion(entry, versions.get(path), context);
        const notes = new Notes();
        const options = { recursive, signal: scope.signal, addNote: notes.add };
        return { removed: await context.changes.remove(entry, options), ...notes.field };
      }),
    );
    return { results };
  },
});

/** A missing file has no version that could be lost. */
async function requireVersion(entry: JailEntry, version: string | undefined, { maxReadBytes }: CoderContext) {
  if (version === undefined || !entry.stat) return;

  const { path } = entry;
  if (!entry.stat.isFile())
    throw errors.fail('C210', { problem: `${path} is not a regular file, so it has no version` });
  await readCurrent(
    entry,
    { bytes: maxReadBytes, key: 'max_read_bytes' },
    {
      version,
      fix: (current) => ({ paths: [path], expected_versions: { [path]: current } }),
    },
  );
}
