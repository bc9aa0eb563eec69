/** workcell sandbox pull: fetches or updates an image before a sandbox needs it. */
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { imageOptions, withImages } from '../../sandbox/image-cache.ts';
import { clearLine } from '../../live-line.ts';
import { printReply } from '../../print.ts';

export const sandboxPull: Command = {
  name: 'sandbox pull',
  summary: 'Fetch or build an image, also if an older one is cached.',
  usage: '<image>',
  details: 'The image is a name of `workcell sandbox images` or a reference such as docker.io/library/debian:stable.',
  options: imageOptions,
  examples: ['workcell sandbox pull python'],
  minWords: 1,
  maxWords: 1,

  run({ words: [image = ''], options }) {
    return withImages(options, async ({ images, signal, onProgress }) => {
      const pulled = await images.pull(image, { signal, onProgress }).finally(clearLine);
      printReply(options, pulled, () => `${pulled.ref} is here as ${pulled.digest}\n`);
      return EXIT.ok;
    });
  },
};
