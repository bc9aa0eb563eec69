/** mv: moves a path to another, a symlink as itself; a file also to another device. */
import { z } from 'zod';

import { FileFault, HostError } from '#host';
import { defineOperation } from './file-operation.ts';
import { noteField, Notes } from './note.ts';

export const mv = defineOperation({
  summary: 'Move or rename a path.',
  details: 'A directory moves inside one device only. `dst` is the new path itself, never a directory to move into.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { trees: ['src', 'dst'] },
  request: z
    .object({
      src: z.string().describe('Path to move, absolute.'),
      dst: z.string().describe('Its new path, absolute; the parent directory must exist.'),
      overwrite: z.boolean().default(false).describe('Replace an existing dst.'),
    })
    .meta({ title: 'MvRequest' }),
  response: z.object({ moved: z.boolean().describe('Always true.'), note: noteField }).meta({ title: 'MvResponse' }),
  reads: { line: ['src', 'dst'] },
  errors: ['S210', 'S211', 'S213', 'S214', 'S215', 'S216'],
  examples: [{ src: '/tmp/draft.md', dst: '/tmp/final.md' }],

  async handle({ src, dst, overwrite }, { files }, { signal, noteChange, call, functionId }) {
    const notes = new Notes();
    try {
      await files.mv(src, dst, { overwrite }, { signal, addNote: notes.add, noteChange, call, functionId });
    } catch (error) {
      throw namingTheEnd(error, src, dst);
    }
    return { moved: true, ...notes.field };
  },
});

/** Adds to an error which path failed, source or destination. */
function namingTheEnd(error: unknown, src: string, dst: string): unknown {
  if (!(error instanceof HostError)) return error;
  if (error.reason === 'missing' && error.path === src) return new FileFault('missing', `src not found: ${src}`, error);
  if (error.reason === 'exists' && error.path === dst) {
    return new FileFault('exists', `dst already exists: ${dst}`, error);
  }
  return error;
}
