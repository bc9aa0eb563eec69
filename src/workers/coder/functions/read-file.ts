/**
 * coder::read-file: one file's text, with its size, time, mode and version.
 *
 * All of it is asked of the one open file: an oversized one costs no read, and none can be swapped
 * in between.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';

import { wire } from '#contract';
import { mtimeSecs } from '../entry-info.ts';
import { errors } from '../errors.ts';
import { coder } from '../worker.ts';

export const readFile = coder.defineFunction({
  id: 'coder::read-file',
  summary: 'Read one file under base_path: its text, size, mode, time and version.',
  details: 'Files over max_read_bytes are refused with C213. A protected file answers as if it did not exist.',
  effect: 'read',
  request: z.object({
    path: z.string().describe('The file, relative to base_path.'),
  }),
  response: z.object({
    path: z.string().describe('The path as it was asked for.'),
    content: z.string().describe('The text. Bytes that are not UTF-8 are replaced by U+FFFD.'),
    is_utf8: z.boolean().describe('True when the file is valid UTF-8, so that content holds every byte of it.'),
    size: wire.uint64().describe('Bytes in the file.'),
    mode: wire.uint32().describe('Permission bits as a number: 420 is 0644.'),
    mtime: wire.int64().describe('Last change, in seconds since 1970.'),
    version: z.string().optional().describe('Stands for exactly this content; changes when the content does.'),
  }),
  errors: ['C210', 'C211', 'C213', 'C215', 'C216'],
  examples: [{ path: 'README.md' }],

  async handle({ path }, { jail, maxReadBytes }) {
    using file = jail.open(path);
    const { size, mode } = file.stat;
    if (size > maxReadBytes) throw errors.fail('C213', { path, size, limit: maxReadBytes });

    const bytes = await file.read();
    return {
      path,
      content: decode(bytes),
      is_utf8: isUtf8(bytes),
      size,
      mode: mode & 0o777,
      mtime: mtimeSecs(file.stat),
      version: `sha256:${hash('sha256', bytes)}`,
    };
  },
});

/** Plain ASCII, the usual case, decodes ten times faster as Latin-1. */
function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}
