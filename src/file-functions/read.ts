/** read: returns a file's bytes through a channel named in the reply, with its size, mode and mtime. */
import { z } from 'zod';

import { wire } from '#contract';
import { FileFault } from '#host';
import { ContentRef } from './content-ref.ts';
import { defineOperation } from './file-operation.ts';
import { spellMode } from './mode.ts';

export const read = defineOperation({
  summary: 'Stream a file out through a channel.',
  details:
    'Bytes come as binary messages of at most 64 KiB. When reading fails on the way, one text message `{"error": …}` comes, ' +
    'and the stream breaks off: a reader without error events compares the received bytes with `size`.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['path'] },
  request: z
    .object({ path: z.string().describe('The file, absolute. A link is followed.') })
    .meta({ title: 'ReadRequest' }),
  response: z
    .object({
      content: ContentRef.describe('The end of the channel to read from, once.'),
      size: wire.uint64(),
      mode: z.string().describe('Permission bits in octal, four digits.'),
      mtime: wire.int64().describe('Last change in whole seconds since 1970.'),
    })
    .meta({ title: 'ReadResponseWire' }),
  reads: { line: ['path'] },
  errors: ['S210', 'S211', 'S212', 'S215', 'S216', 'S218'],
  examples: [{ path: '/tmp/notes.md' }],

  async handle({ path }, { files, maxReadBytes, openReads }, scope) {
    const file = await files.read(path, scope);
    const { sizeBytes, mode, mtimeSecs } = file;
    if (sizeBytes > maxReadBytes) {
      file.close();
      throw new FileFault('too-large', `${path} is ${sizeBytes} bytes; the limit is ${maxReadBytes}`);
    }
    const content = await openReads.send(file, scope.bus);
    return { content, size: sizeBytes, mode: spellMode(mode), mtime: mtimeSecs };
  },
});
