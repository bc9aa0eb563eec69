/** ls: lists a directory, sorted by name, symlinks not followed. */
import { z } from 'zod';

import { CUT_NOTES } from '#contract';
import { FsEntry, toEntry } from './entry.ts';
import { defineOperation } from './file-operation.ts';

export const ls = defineOperation({
  summary: 'List the entries of a directory.',
  details: 'Hidden entries are included. A link is listed as a link; a path that is a link to a directory is followed.',
  effect: 'read',
  permissions: ['fs.list'],
  subject: { paths: ['path'] },
  request: z.object({ path: z.string().describe('The directory, absolute.') }).meta({ title: 'LsRequest' }),
  response: z
    .object({
      entries: z.array(FsEntry).describe('In the order of the bytes of the names.'),
      truncated: z.boolean().optional().describe('True when only the first 200000 entries are here; else absent.'),
    })
    .meta({ title: 'LsResponse' }),
  reads: { line: ['path'], notes: CUT_NOTES },
  errors: ['S210', 'S211', 'S212', 'S215', 'S216'],
  examples: [{ path: '/tmp' }],

  async handle({ path }, { files }, scope) {
    const { entries, isTruncated } = await files.ls(path, scope);
    return { entries: entries.map(toEntry), ...(isTruncated && { truncated: true }) };
  },
});
