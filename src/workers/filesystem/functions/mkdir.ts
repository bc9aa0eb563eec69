/** filesystem::mkdir: creates a directory with missing parents; an existing one is fine. */
import { z } from 'zod';

import { HostError } from '#host';
import { defineAction } from '../action.ts';

const DIRECTORY_MODE = 0o755;

export const mkdir = defineAction({
  id: 'filesystem::mkdir',
  summary: 'Create a directory with its missing parents.',
  effect: 'write',
  isDestructive: false,
  isIdempotent: true,
  permissions: ['fs.write'],
  subject: { paths: ['path'] },
  policy: { risk: 'low', sideEffects: ['filesystem_write'], constraints: ['paths'] },
  request: z.object({
    path: z.string().describe('The directory: absolute, or from the first allowed path. Symlinks are followed.'),
  }),
  data: z.object({
    path: z.string().describe('Path of the directory, symlinks resolved.'),
    created: z.boolean().describe('False if it already existed.'),
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216', 'F217'],
  examples: [{ path: 'notes/2026' }],

  handle({ path }, { changes }, scope) {
    return changes.onTarget(path, scope, async (target) => {
      if (target.stat && !target.stat.isDirectory()) throw new HostError('exists', path);
      const created = target.stat === undefined;
      if (created) await changes.makeDirectory(target, { mode: DIRECTORY_MODE, parents: true });
      return { path: `/${target.relativePath}`, created };
    });
  },
});
