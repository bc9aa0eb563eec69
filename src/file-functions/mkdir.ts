/** mkdir: creates a directory with exactly the given mode, whatever the umask. */
import { z } from 'zod';

import { defineOperation } from './file-operation.ts';
import { modeField, parseMode } from './mode.ts';

export const mkdir = defineOperation({
  summary: 'Make a directory.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['path'] },
  isDestructive: false,
  isIdempotent: true,
  request: z
    .object({
      path: z.string().describe('The directory, absolute.'),
      mode: modeField('Permission bits of the directory.').default('0755'),
      parents: z
        .boolean()
        .default(false)
        .describe('Create missing parent directories, and accept an existing directory.'),
    })
    .meta({ title: 'MkdirRequest' }),
  response: z
    .object({ created: z.boolean().describe('False if the directory already existed.') })
    .meta({ title: 'MkdirResponse' }),
  reads: { line: ['path'] },
  errors: ['S210', 'S211', 'S213', 'S215', 'S216'],
  examples: [{ path: '/tmp/notes/2026', parents: true }],

  async handle({ path, mode, parents }, { files }, scope) {
    return { created: await files.mkdir(path, { mode: parseMode(mode), parents }, scope) };
  },
});
