/** chmod: sets permission bits, and optionally the owner, of one path or everything below. */
import { z } from 'zod';

import { wire } from '#contract';
import { defineOperation } from './file-operation.ts';
import { modeField, parseMode } from './mode.ts';

export const chmod = defineOperation({
  summary: 'Set permission bits, and optionally the owner, of a path.',
  details:
    'A link is followed, but with recursive it is refused, and symlinks below it are skipped. Nothing is changed when a ' +
    'denylisted path lies below.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { trees: ['path'] },
  isIdempotent: true,
  request: z
    .object({
      path: z.string().describe('Path to change, absolute.'),
      mode: modeField('The bits to set.'),
      uid: wire.uint32().nullable().default(null).describe('Owner to set; left as it is when null.'),
      gid: wire.uint32().nullable().default(null).describe('Group to set; left as it is when null.'),
      recursive: z.boolean().default(false).describe('Also change everything below a directory.'),
    })
    .meta({ title: 'ChmodRequest' }),
  response: z
    .object({ updated: wire.uint64().describe('Entries that were changed, the path itself included.') })
    .meta({ title: 'ChmodResponse' }),
  reads: { line: ['mode', 'path'] },
  errors: ['S210', 'S211', 'S212', 'S215', 'S216'],
  examples: [{ path: '/tmp/run.sh', mode: '0755' }],

  async handle({ path, mode, uid, gid, recursive }, { files }, scope) {
    const permissions = { mode: parseMode(mode), uid: uid ?? undefined, gid: gid ?? undefined };
    return { updated: await files.chmod(path, { ...permissions, recursive }, scope) };
  },
});
