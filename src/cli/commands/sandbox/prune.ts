/** workcell sandbox prune: deletes cached images that are not in use. */
import type { PruneReport } from '#workers/sandbox';
import { valueOption, type Command } from '../../command.ts';
import { text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { imageOptions, megabytes, withImages } from '../../sandbox/image-cache.ts';
import { printReply } from '../../print.ts';
import { readDuration, readNumber } from '../../sandbox/sandbox-command.ts';

const DEFAULT_UNUSED = '720h';

export const sandboxPrune: Command = {
  name: 'sandbox prune',
  summary: 'Remove images unused for a while, and unneeded downloads.',
  details: 'An image that a sandbox uses stays, whichever process runs the sandbox.',
  options: {
    'unused-for': valueOption('TIME', 'Remove images unused for this long.', { default: DEFAULT_UNUSED }),
    'max-mb': valueOption('MB', 'Then remove the longest unused images until all together are no larger.'),
    all: { type: 'boolean', description: 'Remove every image that is not in use.' },
    ...imageOptions,
  },
  examples: ['workcell sandbox prune', 'workcell sandbox prune --max-mb 5000', 'workcell sandbox prune --all'],
  maxWords: 0,

  run({ options }) {
    const unusedForMs = readDuration(text(options['unused-for']), '--unused-for') ?? 0;
    const maxMb = readNumber(text(options['max-mb']), '--max-mb');
    return withImages(options, ({ images }) => {
      const report = images.prune({
        unusedForMs: options.all === true ? 0 : unusedForMs,
        maxBytes: maxMb === undefined ? undefined : maxMb * 1e6,
      });
      printReply(options, report, () => asText(report));
      return EXIT.ok;
    });
  },
};

function asText({ removed, inUse, freedBytes }: PruneReport): string {
  const lines = removed.map(({ digest, refs }) => `removed ${refs.join(', ') || digest}\n`);
  const kept = inUse.length === 0 ? '' : `; ${inUse.length} stay because they are in use`;
  return `${lines.join('')}${megabytes(freedBytes)} MB freed${kept}\n`;
}
