/**
 * filesystem::write: writes a file, completely or not at all.
 *
 * The size is checked as encoded bytes, before anything is touched.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField } from '#file-functions';
import { HostError, versionOf, type JailEntry } from '#host';
import { defineAction } from '../action.ts';
import { expectedVersionField, readCurrent, versionField } from '../current-text.ts';
import { encodeText, encodingField } from '../encodings.ts';
import { errors } from '../errors.ts';
import type { FilesystemContext } from '../worker.ts';

export const write = defineAction({
  id: 'filesystem::write',
  summary: 'Create a file or replace all of it.',
  details: 'A file that is replaced keeps its mode; a new one has 0644. Readers see the old file or the new one.',
  effect: 'write',
  isIdempotent: true,
  permissions: ['fs.write'],
  subject: { paths: ['path'] },
  policy: { risk: 'medium', sideEffects: ['filesystem_write'], constraints: ['paths', 'max_file_size'] },
  request: z.object({
    path: z.string().describe('The file: absolute, or from the first allowed path. Symlinks are followed.'),
    content: z.string().describe('The new content.'),
    create_dirs: z.boolean().default(false).describe('Create missing parent directories.'),
    encoding: encodingField,
    expected_version: expectedVersionField,
  }),
  data: z.object({
    path: z.string().describe('Path of the file, symlinks resolved.'),
    bytes_written: wire.uint64(),
    created: z.boolean().describe('True if the file did not exist before.'),
    version: versionField,
    note: noteField,
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F213', 'F215', 'F216', 'F217', 'F221'],
  examples: [{ path: 'notes/today.md', content: '# Today\n', create_dirs: true }],

  handle({ path, content, create_dirs, encoding, expected_version }, context, scope) {
    const bytes = encodeText(content, encoding);
    if (!bytes) throw errors.fail('F210', { problem: `\`content\` has characters that ${encoding} lacks` });

    const size = bytes.length;
    const limit = context.maxFileBytes;
    return context.changes.onTarget(path, scope, async (target) => {
      if (size > limit) throw errors.fail('F213', { path: `/${target.relativePath}`, size, limit });
      if (expected_version !== undefined) await readCurrent(target, expected_version, context);
      const written = await writeTo(target, bytes, { parents: create_dirs }, context);
      return {
        path: `/${target.relativePath}`,
        bytes_written: size,
        created: target.stat === undefined,
        version: versionOf(bytes),
        ...written,
      };
    });
  },
});

/** On a write, ENOENT is about the parent directory. */
function writeTo(
  target: JailEntry,
  bytes: Buffer,
  options: { parents: boolean },
  { changes }: FilesystemContext,
): ReturnType<FilesystemContext['changes']['write']> {
  return changes.write(target, bytes, options).catch((error: unknown) => {
    const isDirectoryMissing = error instanceof HostError && error.reason === 'missing' && !options.parents;
    if (!isDirectoryMissing) throw error;
    const problem = `the directory of /${target.relativePath} does not exist; create_dirs makes it`;
    throw errors.fail('F211', { problem, fix: { create_dirs: true } }, error);
  });
}
