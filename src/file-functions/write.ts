/**
 * write: writes a file from the request or through a channel, all of it or nothing.
 *
 * The file is renamed into place after the last byte; until then, and when the stream breaks, the old one stays.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { ContentRef } from './content-ref.ts';
import { defineOperation } from './file-operation.ts';
import { incomingBytes } from './incoming-bytes.ts';
import { modeField, parseMode } from './mode.ts';
import { noteField } from './note.ts';

/** The longest that the bus keeps a call; the real bound is the idle timeout of the stream. */
const DEADLINE_MS = 3_600_000;

export const write = defineOperation({
  summary: 'Write a file, from a text or from a channel.',
  details:
    'The file appears with all its content or not at all. A channel that brings nothing for 30 seconds fails the write, and so ' +
    'does one whose writer disconnects without closing it. ' +
    'Text messages in a channel are not part of the file; `{"error": …}` fails the write.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['path'] },
  isIdempotent: true,
  request: z
    .object({
      path: z.string().describe('The file, absolute. A link is followed and stays.'),
      // Published but not filled in, so that a replaced file can keep its own.
      mode: modeField('Permission bits. Default 0644; a replaced file keeps its own.')
        .optional()
        .meta({ default: '0644' }),
      parents: z.boolean().default(false).describe('Create missing parent directories.'),
      content: z
        .union([z.string(), ContentRef])
        .describe('The text of the file, written as UTF-8; or the end of a channel to read its bytes from.'),
    })
    .meta({ title: 'WriteRequest' }),
  response: z
    .object({
      bytes_written: wire.uint64(),
      path: z.string().describe('The path as sent.'),
      note: noteField,
    })
    .meta({ title: 'WriteResponse' }),
  reads: { line: ['path'] },
  errors: ['S210', 'S211', 'S213', 'S215', 'S216', 'S218'],
  examples: [{ path: '/tmp/notes.md', content: '# Notes\n' }],
  deadlineMs: DEADLINE_MS,

  async handle(
    { path, mode, parents, content },
    { files, maxWriteBytes, idleMs },
    { bus, signal, noteChange, call, functionId },
  ) {
    const bytes = incomingBytes(content, { bus, signal, maxBytes: maxWriteBytes, idleMs });
    const options = { mode: mode === undefined ? undefined : parseMode(mode), parents };
    let note: string | undefined;
    const addNote = (text: string) => (note = text);
    const bytes_written = await files.write(path, bytes, options, { signal, addNote, noteChange, call, functionId });
    return { bytes_written, path, ...(note !== undefined && { note }) };
  },
});
