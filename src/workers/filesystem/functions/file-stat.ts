/** filesystem::file_stat: stats a path, symlinks not followed. */
import { basename } from 'node:path';
import { z } from 'zod';

import { wire } from '#contract';
import { HostError, kindOf } from '#host';
import { defineAction } from '../action.ts';
import { ENTRY_TYPES, modifiedSecs } from '../listing.ts';

const PERMISSION_BITS = 0o7777;

export const fileStat = defineAction({
  id: 'filesystem::file_stat',
  summary: 'Return the type, size, times and permissions of a file or directory.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['path'] },
  policy: { risk: 'low', sideEffects: [], constraints: ['paths'] },
  request: z.object({ path: z.string().describe('The path: absolute, or from the first allowed path.') }),
  data: z.object({
    path: z.string().describe('Absolute, with the symlinks of its parents resolved.'),
    name: z.string(),
    type: z.enum(ENTRY_TYPES),
    size_bytes: wire.uint64(),
    modified: z.number().describe('Last change, in seconds since 1970.'),
    created: z.number().describe('Creation time in seconds since 1970, if the file system records it.'),
    permissions: z.string().describe('In octal, such as 0o644.'),
    is_symlink: z.boolean(),
  }),
  reads: { line: ['path'] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216'],
  examples: [{ path: 'README.md' }],

  handle({ path: asked }, { jail }) {
    using entry = jail.entry(asked);
    const { stat } = entry;
    if (!stat) throw new HostError('missing', asked);

    const path = `/${entry.relativePath}`;
    return {
      path,
      name: basename(path),
      type: kindOf(stat),
      size_bytes: stat.size,
      modified: modifiedSecs(stat),
      created: stat.birthtimeMs / 1000,
      permissions: `0o${(stat.mode & PERMISSION_BITS).toString(8).padStart(3, '0')}`,
      is_symlink: stat.isSymbolicLink(),
    };
  },
});
