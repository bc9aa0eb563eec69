/** workcell sandbox import: imports an image from a file, for machines without access to a registry. */
import { resolve } from 'node:path';

import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { imageOptions, withImages } from '../../sandbox/image-cache.ts';
import { clearLine } from '../../live-line.ts';
import { printReply } from '../../print.ts';

export const sandboxImport: Command = {
  name: 'sandbox import',
  summary: 'Import an image from an archive under a name or reference.',
  usage: '<archive> <image>',
  details:
    'The archive is the output of `docker save`, or an OCI layout as a directory or a tar. The image is a name of\n' +
    '`workcell sandbox images`, or the reference that custom_images gives a name to.',
  options: imageOptions,
  examples: ['workcell sandbox import tools.tar.gz tools'],
  minWords: 2,
  maxWords: 2,

  run({ words: [archive = '', image = ''], options }) {
    return withImages(options, async ({ images, signal, onProgress }) => {
      const imported = await images.import(resolve(archive), image, { signal, onProgress }).finally(clearLine);
      printReply(options, imported, () => `${imported.ref} is here as ${imported.digest}\n`);
      return EXIT.ok;
    });
  },
};
