/** workcell token remove: removes a token; a running server ends its calls and jobs. */
import { TokenFile } from '#access';
import { ConfigError, didYouMean } from '#contract';
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';

export const tokenRemove: Command = {
  name: 'token remove',
  summary: 'Remove a token. It ends at once, with the calls that it was making.',
  usage: 'NAME',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...accessOptions },
  minWords: 1,
  maxWords: 1,

  run({ words: [name = ''], options }) {
    const { stateDir } = readAccess(options);
    const file = new TokenFile(stateDir);
    const known = file.list().map((token) => token.name);
    if (!file.remove(name)) throw new ConfigError(`there is no token "${name}"${didYouMean(name, known)}`);
    printReply(options, { removed: name }, () => `removed ${name}\n`);
    return Promise.resolve(EXIT.ok);
  },
};
