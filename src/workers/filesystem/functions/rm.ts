/** filesystem::rm: removes a file, a symlink or a directory; never the target of a symlink. */
import { z } from 'zod';

import { noteField, Notes } from '#file-functions';
import { HostError, kindOf } from '#host';
import { defineAction } from '../action.ts';
import { errors } from '../errors.ts';
import { ENTRY_TYPES } from '../listing.ts';

export const rm = defineAction({
  id: 'filesystem::rm',
  summary: 'Delete a file or directory for good.',
  details: 'Any directory needs recursive, also an empty one. An allowed path itself is never deleted.',
  effect: 'delete',
  isIdempotent: true,
  permissions: ['fs.delete'],
  subject: { trees: ['path'] },
  policy: { risk: 'high', sideEffects: ['filesystem_delete'], constraints: ['paths'] },
  request: z.object({
    path: z.string().describe('Path to delete: absolute, or from the first allowed path.'),
    recursive: z
      .boolean()
      .default(false)
      .describe('Delete a directory with everything in it; required for any directory.'),
  }),
  data: z.object({
    path: z.string().describe('Its old path.'),
    type: z.enum(ENTRY_TYPES).describe('Type of the deleted entry.'),
    deleted: z.boolean(),
    note: noteField,
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216'],
  examples: [{ path: 'scratch.txt' }],

  handle({ path, recursive }, { changes }, scope) {
    return changes.onEntry(path, scope, async (entry) => {
      if (!entry.stat) throw new HostError('missing', path);
      const absolute = `/${entry.relativePath}`;
      if (entry.stat.isDirectory() && !recursive && !entry.isRoot) {
        throw errors.fail('F212', {
          problem: `${absolute} is a directory; recursive deletes it with everything in it`,
          fix: { recursive: true },
        });
      }
      const notes = new Notes();
      const deleted = await changes.remove(entry, { recursive, signal: scope.signal, addNote: notes.add });
      return { path: absolute, type: kindOf(entry.stat), deleted, ...notes.field };
    });
  },
});
