/** rm: removes a path, a symlink as itself wherever it points. */
import { z } from 'zod';

import { defineOperation } from './file-operation.ts';
import { noteField, Notes } from './note.ts';

export const rm = defineOperation({
  summary: 'Remove a file, a link or a directory.',
  details: 'A directory with a denylisted path anywhere below is not removed, nor is the root.',
  effect: 'delete',
  permissions: ['fs.delete'],
  subject: { trees: ['path'] },
  isIdempotent: true,
  request: z
    .object({
      path: z.string().describe('Path to remove, absolute. A symlink is removed itself, never its target.'),
      recursive: z.boolean().default(false).describe('Remove a directory with everything in it.'),
    })
    .meta({ title: 'RmRequest' }),
  response: z.object({ removed: z.boolean().describe('Always true.'), note: noteField }).meta({ title: 'RmResponse' }),
  reads: { line: ['path'] },
  errors: ['S210', 'S211', 'S214', 'S215', 'S216'],
  examples: [{ path: '/tmp/scratch', recursive: true }],

  async handle({ path, recursive }, { files }, { signal, noteChange, call, functionId }) {
    const notes = new Notes();
    await files.rm(path, { recursive }, { signal, addNote: notes.add, noteChange, call, functionId });
    return { removed: true, ...notes.field };
  },
});
