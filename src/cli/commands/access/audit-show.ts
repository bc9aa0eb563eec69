/** workcell audit show: one record of the audit, whole. */
import { recordsOf } from '#access';
import { ConfigError } from '#contract';
import { UsageError, type Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { printJson } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';
import { auditFolders } from './audit-folders.ts';

export const auditShow: Command = {
  name: 'audit show',
  summary: 'Print one record of the audit as JSON.',
  usage: 'SEQ',
  details:
    'The number is the first word of each line of `audit tail`. Servers that ran at the same time have numbers of their own: then every record with the number is printed.',
  options: { ...accessOptions },
  minWords: 1,
  maxWords: 1,

  async run({ words: [given = ''], options }) {
    if (!/^\d+$/.test(given)) throw new UsageError(`SEQ must be a whole number (got ${given})`);
    const { stateDir } = readAccess(options);
    let isFound = false;
    for (const folder of auditFolders(stateDir)) {
      for await (const record of recordsOf(folder)) {
        if (record.seq !== Number(given)) continue;
        printJson(record);
        isFound = true;
      }
    }
    if (!isFound) throw new ConfigError(`the audit has no record ${given}: workcell audit tail shows the newest`);
    return EXIT.ok;
  },
};
