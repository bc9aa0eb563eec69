/** filesystem::cp: copies a file or directory; symlinks in a directory are copied as symlinks. */
import { z } from 'zod';

import { noteField, Notes } from '#file-functions';
import { defineAction } from '../action.ts';
import { requireSize } from '../current-text.ts';
import { errors } from '../errors.ts';

export const cp = defineAction({
  id: 'filesystem::cp',
  summary: 'Copy a file, or a directory with everything in it.',
  details:
    'Both paths have to be allowed, and everything is checked before anything is copied. An existing directory is ' +
    'merged with overwrite: files of the same name are replaced, others stay. Modes are copied, owners are not.',
  effect: 'write',
  isIdempotent: true,
  permissions: ['fs.read', 'fs.write'],
  subject: { trees: ['source', 'destination'] },
  policy: { risk: 'medium', sideEffects: ['filesystem_write'], constraints: ['paths', 'max_file_size'] },
  request: z.object({
    source: z.string().describe('Path to copy: absolute, or from the first allowed path. A symlink is followed.'),
    destination: z.string().describe('The path of the copy, name included.'),
    overwrite: z.boolean().default(false).describe('Replace an existing destination.'),
  }),
  data: z.object({
    source: z.string().describe('Path of the source, symlinks resolved.'),
    destination: z.string().describe('Path of the copy.'),
    note: noteField,
  }),
  reads: { line: ['source', 'destination'] },
  errors: ['F210', 'F211', 'F212', 'F213', 'F215', 'F216', 'F217'],
  examples: [{ source: 'README.md', destination: 'README.copy.md', overwrite: true }],

  async handle(
    { source, destination, overwrite },
    { jail, changes, maxFileBytes },
    { signal, noteChange, call, functionId },
  ) {
    const [from, to] = [source, destination].map((path) => {
      using entry = jail.target(path);
      return `/${entry.relativePath}`;
    }) as [string, string];
    if (to === from || to.startsWith(`${from}/`)) {
      throw errors.fail('F210', { problem: `${from} cannot be copied into itself` });
    }

    const notes = new Notes();
    await changes.copy(source, destination, {
      overwrite,
      addNote: notes.add,
      signal,
      noteChange,
      call,
      functionId,
      refuse: (relativePath, size) => requireSize({ relativePath, size }, maxFileBytes),
    });
    return { source: from, destination: to, ...notes.field };
  },
});
