/** stat: stats one path, symlinks not followed. */
import { z } from 'zod';

import { entryFields, toEntry } from './entry.ts';
import { defineOperation } from './file-operation.ts';

export const stat = defineOperation({
  summary: 'Return size, mode, mtime and kind of one path.',
  details: 'Symlinks are not followed: a symlink is reported itself.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['path'] },
  request: z.object({ path: z.string().describe('The path, absolute.') }).meta({ title: 'StatRequest' }),
  response: z.object(entryFields).meta({ title: 'FsEntry' }),
  reads: { line: ['path'] },
  errors: ['S210', 'S211', 'S215', 'S216'],
  examples: [{ path: '/tmp' }],

  async handle({ path }, { files }, scope) {
    return toEntry(await files.stat(path, scope));
  },
});
