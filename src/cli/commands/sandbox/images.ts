/** workcell sandbox images: lists the images for sandboxes, and which are on this disk. */
import type { ImageRow } from '#workers/sandbox';
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { imageOptions, megabytes, withImages } from '../../sandbox/image-cache.ts';
import { printReply } from '../../print.ts';

export const sandboxImages: Command = {
  name: 'sandbox images',
  summary: 'List the images, and which of them are on this disk.',
  options: imageOptions,
  examples: ['workcell sandbox images', 'workcell sandbox images --json'],
  maxWords: 0,

  run({ options }) {
    return withImages(options, ({ images }) => {
      const rows = images.list();
      const head = ['NAME', 'REFERENCE', 'HERE', 'SIZE_MB', 'LAST_USED', 'DIGEST'];
      printReply(options, rows, () => ({ head, rows: rows.map(toRow) }));
      return EXIT.ok;
    });
  },
};

function toRow({ name, ref, cached }: ImageRow): string[] {
  if (!cached) return [name ?? '', ref, 'no', '', '', ''];
  const { source, bytes, lastUsed, isInUse, digest } = cached;
  const here = isInUse ? `${source}, in use` : source;
  return [
    name ?? '',
    ref,
    here,
    megabytes(bytes),
    lastUsed.toISOString().slice(0, 16),
    digest.slice('sha256:'.length, 19),
  ];
}
