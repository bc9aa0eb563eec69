/** filesystem::mv: moves a file or directory; a symlink is moved itself, wherever it points. */
import { z } from 'zod';

import { noteField, Notes } from '#file-functions';
import { defineAction } from '../action.ts';

export const mv = defineAction({
  id: 'filesystem::mv',
  summary: 'Move or rename a file or directory.',
  details:
    'Both paths have to be allowed. What is at the destination stays unless overwrite is set; a directory with entries ' +
    'is never replaced.',
  effect: 'write',
  permissions: ['fs.read', 'fs.write'],
  subject: { trees: ['source', 'destination'] },
  policy: { risk: 'medium', sideEffects: ['filesystem_write'], constraints: ['paths'] },
  request: z.object({
    source: z.string().describe('Path to move: absolute, or from the first allowed path.'),
    destination: z.string().describe('Its path afterwards, name included.'),
    overwrite: z.boolean().default(false).describe('Replace an existing destination.'),
  }),
  data: z.object({
    source: z.string().describe('Its old path.'),
    destination: z.string().describe('Its new path.'),
    note: noteField,
  }),
  reads: { line: ['source', 'destination'] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216', 'F217'],
  examples: [{ source: 'draft.md', destination: 'notes.md' }],

  async handle({ source, destination, overwrite }, { jail, changes }, { signal, noteChange, call, functionId }) {
    const moved = [source, destination].map((path) => {
      using entry = jail.entry(path);
      return `/${entry.relativePath}`;
    }) as [string, string];
    const notes = new Notes();
    await changes.rename(source, destination, { overwrite, addNote: notes.add, signal, noteChange, call, functionId });
    return { source: moved[0], destination: moved[1], ...notes.field };
  },
});
